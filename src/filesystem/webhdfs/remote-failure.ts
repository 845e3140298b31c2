/** What a name node, data node or gateway answers when it does not do what it was asked for. */
import {
  AlreadyExistsError,
  asError,
  CkptError,
  DirectoryNotEmptyError,
  InvalidPathError,
  IoError,
  NotFoundError,
  PermissionError,
  UnsupportedOperationError,
} from '../../errors.js';
import type { Path } from '../path.js';

/** The `RemoteException` of an answer, or what stands for it where a server has said less. */
export class RemoteFailure extends Error {
  override readonly name = 'RemoteFailure';

  /**
   * @param exception simple name of the Java class; empty if the answer is none of Hadoop's
   * @param message its first line, without secrets
   * @param status of HTTP
   */
  constructor(
    readonly exception: string,
    message: string,
    readonly status: number,
  ) {
    super(message);
  }

  /** True if a file stands where a directory of the path should be. HDFS has several ways to say so. */
  get isBelowFile(): boolean {
    return (
      this.exception === 'ParentNotDirectoryException' ||
      (this.exception === 'AccessControlException' && /\bis not a directory\b/.test(this.message))
    );
  }

  /** True if nothing is at the path, be it because a file is in its way. */
  get isMissing(): boolean {
    return this.exception === 'FileNotFoundException' || this.isBelowFile;
  }

  /** True if another name node may be the one that answers. */
  get isStandby(): boolean {
    return this.exception === 'StandbyException' || this.exception === 'ObserverRetryOnActiveException';
  }

  /** True if the same request may succeed a little later. */
  get isTransient(): boolean {
    if (this.exception === '') return this.status === 429 || this.status >= 500;
    // A name node that has just started, or lost its data nodes for a moment.
    return TRANSIENT.has(this.exception) || /^Failed to find datanode/.test(this.message);
  }
}

/** A connection that could not be made, or broke. */
export class ConnectionFailure extends Error {
  override readonly name = 'ConnectionFailure';

  /** @param wasSent whether the request may have arrived, and been carried out, all the same */
  constructor(
    message: string,
    readonly wasSent: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const TRANSIENT = new Set([
  'StandbyException',
  'ObserverRetryOnActiveException',
  'RetriableException',
  'SafeModeException',
  'ServerTooBusyException',
  'NotReplicatedYetException',
  'RecoveryInProgressException',
  // What a gateway says of the name node behind it, or a data node of another one.
  'ConnectException',
  'ConnectTimeoutException',
  'SocketTimeoutException',
  'SocketException',
  'NoRouteToHostException',
  'EOFException',
  'ClosedChannelException',
]);

const TOKEN_HINT =
  'the delegation token is no good (any more): get a new one, for example by "hdfs fetchdt --webservice"';
const KERBEROS_HINT =
  'it asks for Kerberos: give a delegation token instead (HADOOP_TOKEN_FILE_LOCATION; "hdfs fetchdt --webservice" gets one)';

/** What a failure means: where a file stands in the way of a path, nothing is at it, but nothing can be made there either. */
export interface FailureContext {
  readonly path: Path;
  /** What was tried, for {@link IoError}. */
  readonly action: string;
  /** True if something was to be made at the path. */
  readonly isCreation?: boolean;
}

/** Any failure as an error of ours that names the path. Errors of ours stay as they are. */
export function toCkptError(thrown: unknown, { path, action, isCreation = false }: FailureContext): CkptError {
  if (thrown instanceof CkptError) return thrown;
  const name = path.toString();
  const options = { cause: asError(thrown) };
  if (!(thrown instanceof RemoteFailure)) return new IoError(name, action, options);
  if (thrown.isBelowFile) return isCreation ? new AlreadyExistsError(name, options) : new NotFoundError(name, options);
  switch (thrown.exception) {
    case 'FileNotFoundException':
      return new NotFoundError(name, options);
    case 'FileAlreadyExistsException':
    case 'AlreadyBeingCreatedException':
      return new AlreadyExistsError(name, options);
    case 'PathIsNotEmptyDirectoryException':
      return new DirectoryNotEmptyError(name, options);
    case 'AccessControlException':
    case 'AuthorizationException':
      return new PermissionError(name, options);
    case 'InvalidToken':
    case 'SecurityException':
      return new PermissionError(name, { cause: new Error(`${thrown.message}: ${TOKEN_HINT}`) });
    case 'InvalidPathException':
    case 'PathComponentTooLongException':
      return new InvalidPathError(name, `HDFS refuses it: ${thrown.message}`, options);
    case 'UnsupportedOperationException':
      return new UnsupportedOperationError(name, action, options);
    case '':
      if (thrown.status === 401) return new PermissionError(name, { cause: new Error(KERBEROS_HINT) });
      return thrown.status === 403 ? new PermissionError(name, options) : new IoError(name, action, options);
    default:
      return new IoError(name, action, options);
  }
}

/**
 * The failure in the body of an answer.
 * @param clean takes secrets out of a message
 */
export function parseRemoteFailure(status: number, body: string, clean: (text: string) => string): RemoteFailure {
  const { exception, message } = remoteException(body) ?? {};
  if (exception === undefined) {
    return new RemoteFailure('', `the server answers ${status}, and not as WebHDFS does`, status);
  }
  const first = (message ?? '').split('\n', 1)[0]?.trim() ?? '';
  const short = first.length > 500 ? `${first.slice(0, 500)}…` : first;
  // Some failures are wrapped: `org.apache...InvalidToken: token (...) is expired`.
  const wrapped = /(?:^|: )(?:[\w$]+\.)+(InvalidToken|StandbyException|RetriableException)\b/.exec(first)?.[1];
  return new RemoteFailure(wrapped ?? exception, clean(short === '' ? exception : short), status);
}

function remoteException(body: string): { exception: string; message?: string | undefined } | undefined {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (typeof answer !== 'object' || answer === null || !('RemoteException' in answer)) return undefined;
  const { RemoteException: remote } = answer;
  if (typeof remote !== 'object' || remote === null || !('exception' in remote)) return undefined;
  if (typeof remote.exception !== 'string' || remote.exception === '') return undefined;
  return {
    exception: remote.exception,
    message: 'message' in remote && typeof remote.message === 'string' ? remote.message : undefined,
  };
}
