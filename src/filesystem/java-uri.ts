/**
 * The part of `java.net.URI` that Flink's `Path` rests on: building a URI from unescaped components, RFC 2396 resolution
 * with Java's deviations, and the decoded getters. Only odd strings come here, `Path` handles the usual ones itself.
 *
 * Components are kept as Java keeps them, escaped: what a component may not hold is `%XX`, so that resolution never takes
 * a character of a name for a separator.
 */

/** Components of a URI, escaped. An opaque URI (`mailto:x`) has no path. Query and fragment are of no use to a `Path`. */
export interface JavaUri {
  readonly scheme: string | undefined;
  readonly authority: string | undefined;
  readonly path: string | undefined;
}

/** Why Java refuses a URI. Never leaves this layer: `Path` turns it into an `InvalidPathError`. */
export class UriSyntaxError extends Error {}

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*$/;
// What may stand unescaped, as the inside of a character class. Beyond ASCII it is everything but blanks and controls.
const VISIBLE =
  '\\u00a1-\\u167f\\u1681-\\u1fff\\u200b-\\u2027\\u202a-\\u202e\\u2030-\\u205e\\u2060-\\u2fff\\u3001-\\uffff';
const UNRESERVED = `A-Za-z0-9\\-_.!~*'()${VISIBLE}`;
const IN_PATH = `${UNRESERVED}:@&=+$,;/`;
const IN_AUTHORITY = `${UNRESERVED}$,;:@&=+`;
const IN_ANY = `${UNRESERVED};/?:@&=+$,\\[\\]`;
const NOT_IN_PATH = new RegExp(`[^${IN_PATH}]`, 'g');
const NOT_IN_AUTHORITY = new RegExp(`[^${IN_AUTHORITY}\\[\\]]`, 'g');
const PATH = escapable(IN_PATH);
const QUERY = escapable(IN_ANY);
const AUTHORITY = escapable(IN_AUTHORITY);
const USER_INFO = escapable(`${UNRESERVED};:&=+$,`);

function escapable(characters: string): RegExp {
  return new RegExp(`^(?:[${characters}]|%[0-9A-Fa-f]{2})*$`);
}

/**
 * `new URI(scheme, authority, path, null, null)` for unescaped components. As in Java the components are joined to one
 * string and that is parsed, so a name with a colon in front of the first slash can come out as a scheme.
 * @throws UriSyntaxError
 */
export function composeUri(scheme: string | undefined, authority: string | undefined, path: string): JavaUri {
  if (scheme !== undefined && path !== '' && !path.startsWith('/')) {
    throw new UriSyntaxError('a relative path cannot follow a scheme');
  }
  const front = scheme === undefined ? '' : `${scheme}:`;
  const middle = authority === undefined ? '' : `//${quoteAuthority(authority)}`;
  return parse(front + middle + path.replace(NOT_IN_PATH, percentEscape));
}

/** `base.resolve(child)`, RFC 2396 section 5.2. */
export function resolveUri(base: JavaUri, child: JavaUri): JavaUri {
  if (child.path === undefined || base.path === undefined || child.scheme !== undefined) return child;
  if (child.authority !== undefined) return { ...child, scheme: base.scheme };
  if (child.path.startsWith('/')) return { ...base, path: child.path };
  const directory = base.path.slice(0, base.path.lastIndexOf('/') + 1);
  const root = directory === '' && base.scheme !== undefined && child.path !== '' ? '/' : directory;
  return { ...base, path: normalizeUriPath(root + child.path) };
}

/**
 * `URI.normalize` for a path: drops empty and `.` segments, and `..` with the segment before it. Keeps a `..` that has
 * nothing before it, keeps a slash at the end (also the one in front of a dropped last segment), and puts `./` in front
 * where a name with a colon would become first.
 */
export function normalizeUriPath(path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '');
  const kept: string[] = [];
  let endsWithSlash = path.endsWith('/');
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1;
    if (segment === '.') {
      endsWithSlash ||= isLast;
    } else if (segment === '..' && kept.length > 0 && kept.at(-1) !== '..') {
      kept.pop();
      endsWithSlash ||= isLast;
    } else {
      kept.push(segment);
    }
  }
  if (path.startsWith('/')) return kept.length === 0 ? '/' : `/${kept.join('/')}${endsWithSlash ? '/' : ''}`;
  const first = kept[0];
  if (first === undefined) return '';
  const dot = first.includes(':') && segments[0] !== first ? './' : '';
  return `${dot}${kept.join('/')}${endsWithSlash ? '/' : ''}`;
}

/** Undoes escapes; in an authority (`brackets`) not those within `[…]`, where `%` starts the scope of an IPv6 address. */
export function decodeUri(escaped: string): string {
  if (!escaped.includes('%')) return escaped;
  return escaped.replace(/\[[^\]]*\]?|(?:%[0-9A-Fa-f]{2})+/g, (part) =>
    part.startsWith('[') ? part : new TextDecoder('utf-8', { ignoreBOM: true }).decode(fromHex(part)),
  );
}

function parse(text: string): JavaUri {
  const [, front] = /^([^:/?#]*):/.exec(text) ?? [];
  if (front !== undefined && !SCHEME.test(front)) throw new UriSyntaxError(`"${front}" is no scheme`);
  const rest = front === undefined ? text : text.slice(front.length + 1);
  if (front !== undefined && !rest.startsWith('/')) {
    if (rest === '') throw new UriSyntaxError('there is nothing behind the scheme');
    return { scheme: front, authority: undefined, path: undefined };
  }
  const [, authority, path = '', query = '', fragment = ''] =
    /^(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(rest) ?? [];
  if (authority === '' && rest.length === 2) throw new UriSyntaxError('the authority is missing');
  if (authority !== undefined && authority !== '') checkAuthority(authority);
  if (!PATH.test(path) || !QUERY.test(query) || !QUERY.test(fragment)) {
    throw new UriSyntaxError('a character is not allowed in front of the first colon');
  }
  return { scheme: front, authority: authority === '' ? undefined : authority, path };
}

function quoteAuthority(authority: string): string {
  const end = authority.startsWith('[') && authority.includes(':') ? authority.indexOf(']') + 1 : 0;
  return authority.slice(0, end) + authority.slice(end).replace(NOT_IN_AUTHORITY, percentEscape);
}

/** Brackets are legal only around an IPv6 address; everything else may be the name of some registry. */
function checkAuthority(authority: string): void {
  if (AUTHORITY.test(authority)) return;
  const [, user = '', address, scope, port = ''] =
    /^(?:([^@]*)@)?\[([^\]%]+)(?:%([^\]]*))?\](?::([0-9]*))?$/.exec(authority) ?? [];
  const isServer =
    address !== undefined &&
    USER_INFO.test(user) &&
    isIpv6(address) &&
    (scope === undefined || /^[A-Za-z0-9_.]+$/.test(scope)) &&
    Number(port) <= 0x7fff_ffff;
  if (!isServer) throw new UriSyntaxError(`"${authority}" is no authority`);
}

function isIpv6(address: string): boolean {
  const halves = address.split('::');
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  let bytes = 0;
  for (const [index, group] of groups.entries()) {
    const isLast = index === groups.length - 1;
    if (/^[0-9A-Fa-f]{1,4}$/.test(group)) bytes += 2;
    else if (isLast && halves.at(-1) !== '' && isIpv4(group)) bytes += 4;
    else return false;
  }
  return halves.length === 1 ? bytes === 16 : bytes < 16;
}

function isIpv4(address: string): boolean {
  const bytes = address.split('.');
  return bytes.length === 4 && bytes.every((byte) => /^[0-9]+$/.test(byte) && Number(byte) < 256);
}

function percentEscape(character: string): string {
  const bytes = new TextEncoder().encode(character);
  return Array.from(bytes, (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

function fromHex(escapes: string): Uint8Array {
  return Uint8Array.from(escapes.slice(1).split('%'), (hex) => Number.parseInt(hex, 16));
}
