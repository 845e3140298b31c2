/** What a pending checkpoint collects: who is still to answer, and the state of those who have. */
import type {
  FinishedOperatorSubtaskState,
  MasterState,
  OperatorHead,
  OperatorState,
  OperatorSubtaskState,
  SubtaskEntry,
} from '../model/checkpoint-metadata.js';
import type { ByteStreamStateHandle } from '../model/state-handles.js';

/** What became of an answer: Flink's `TaskAcknowledgeResult`. */
export type AcknowledgeResult =
  | 'SUCCESS'
  /** It had answered before. */
  | 'DUPLICATE'
  /** Nobody waits for it. */
  | 'UNKNOWN'
  /** The checkpoint was disposed. */
  | 'DISCARDED';

/** An operator by what a job graph knows of it: Flink's `OperatorIDPair`. */
export interface OperatorIdentity {
  /** 32 lower-case hex digits. */
  readonly operatorId: string;
  readonly name: string | null;
  readonly uid: string | null;
}

/** One parallel task of a job, with the operators chained in it. */
export interface CheckpointTask {
  readonly executionAttemptId: string;
  /** From 0 on. */
  readonly subtaskIndex: number;
  readonly parallelism: number;
  readonly maxParallelism: number;
  readonly operators: readonly OperatorIdentity[];
}

/** Whose answers a checkpoint needs, and what is done about tasks that have finished: Flink's `CheckpointPlan`. */
export interface CheckpointPlan {
  /** At least one. */
  readonly tasksToWaitFor: readonly CheckpointTask[];
  /** Told of a task that was finished already when the job was restored. It has no state. */
  reportTaskFinishedOnRestore?(task: CheckpointTask): void;
  /** Told of a task whose operators have all finished. */
  reportTaskHasFinishedOperators?(task: CheckpointTask): void;
  /** Called when all answers are there: may add the operators and subtasks that have finished, by operator id. */
  fulfillFinishedTaskStatus?(operatorStates: Map<string, OperatorState>): void;
}

/** State of one operator in one task. The index is the task's. */
export type SubtaskState = Omit<OperatorSubtaskState, 'index'> | Omit<FinishedOperatorSubtaskState, 'index'>;

/** What a task answers. */
export interface TaskStateSnapshot {
  /** By operator id. Operators without state need no entry. */
  readonly subtaskStates: ReadonlyMap<string, SubtaskState>;
  readonly isTaskDeployedAsFinished?: boolean;
  readonly isTaskFinished?: boolean;
}

/** A coordinator of an operator. */
export interface CoordinatorInfo {
  readonly operatorId: string;
  readonly currentParallelism: number;
  readonly maxParallelism: number;
}

type Head = Pick<OperatorHead, 'operatorId' | 'name' | 'uid' | 'parallelism' | 'maxParallelism' | 'coordinatorState'>;
interface CollectedOperator {
  head: Head;
  readonly subtasks: Map<number, SubtaskEntry>;
}

/** The answers that are awaited, and those that have come. Knows nothing of disposal. */
export class PendingState {
  readonly #tasks: Map<string, CheckpointTask>;
  readonly #acknowledgedTasks = new Set<string>();
  readonly #coordinators: Set<string>;
  readonly #masterIdentifiers: Set<string>;
  readonly #acknowledgedMasters = new Set<string>();
  readonly #operators = new Map<string, CollectedOperator>();
  readonly #masterStates: MasterState[] = [];

  constructor(
    private readonly plan: CheckpointPlan,
    coordinators: Iterable<string>,
    masterIdentifiers: Iterable<string>,
  ) {
    this.#tasks = new Map(plan.tasksToWaitFor.map((task) => [task.executionAttemptId, task]));
    this.#coordinators = new Set(coordinators);
    this.#masterIdentifiers = new Set(masterIdentifiers);
  }

  get isComplete(): boolean {
    return this.awaitedTasks + this.awaitedCoordinators + this.#masterIdentifiers.size === 0;
  }

  get awaitedTasks(): number {
    return this.#tasks.size;
  }

  get awaitedCoordinators(): number {
    return this.#coordinators.size;
  }

  get acknowledgedTasks(): number {
    return this.#acknowledgedTasks.size;
  }

  isAwaited(executionAttemptId: string): boolean {
    return this.#tasks.has(executionAttemptId);
  }

  get masterStates(): readonly MasterState[] {
    return this.#masterStates;
  }

  /** By operator id; subtasks in the order of their indexes. A copy. */
  operatorStates(): Map<string, OperatorState> {
    const states = new Map<string, OperatorState>();
    for (const [operatorId, { head, subtasks }] of this.#operators) {
      const inOrder = [...subtasks.values()].sort((a, b) => a.index - b.index);
      states.set(operatorId, { ...head, finished: false, subtasks: inOrder });
    }
    return states;
  }

  acknowledgeTask(executionAttemptId: string, snapshot: TaskStateSnapshot | null): AcknowledgeResult {
    const task = this.#tasks.get(executionAttemptId);
    if (task === undefined) return this.#acknowledgedTasks.has(executionAttemptId) ? 'DUPLICATE' : 'UNKNOWN';
    this.#tasks.delete(executionAttemptId);
    this.#acknowledgedTasks.add(executionAttemptId);
    if (snapshot?.isTaskDeployedAsFinished === true) {
      this.plan.reportTaskFinishedOnRestore?.(task);
      return 'SUCCESS';
    }
    for (const operator of task.operators) {
      const collected = this.#collect(operator, task.parallelism, task.maxParallelism);
      const state = snapshot?.subtaskStates.get(operator.operatorId);
      if (state !== undefined) collected.subtasks.set(task.subtaskIndex, { ...state, index: task.subtaskIndex });
    }
    if (snapshot?.isTaskFinished === true) this.plan.reportTaskHasFinishedOperators?.(task);
    return 'SUCCESS';
  }

  acknowledgeCoordinatorState(info: CoordinatorInfo, handle: ByteStreamStateHandle | null): AcknowledgeResult {
    const known = this.#operators.get(info.operatorId);
    if (!this.#coordinators.delete(info.operatorId)) {
      // As in Flink: one that has answered without state is not remembered.
      return (known?.head.coordinatorState ?? null) === null ? 'UNKNOWN' : 'DUPLICATE';
    }
    const identity = known?.head ?? { operatorId: info.operatorId, name: null, uid: null };
    const operator = this.#collect(identity, info.currentParallelism, info.maxParallelism);
    if (handle !== null) operator.head = { ...operator.head, coordinatorState: handle };
    return 'SUCCESS';
  }

  acknowledgeMasterState(identifier: string, state: MasterState | null): AcknowledgeResult {
    if (!this.#masterIdentifiers.delete(identifier)) {
      return this.#acknowledgedMasters.has(identifier) ? 'DUPLICATE' : 'UNKNOWN';
    }
    this.#acknowledgedMasters.add(identifier);
    if (state !== null) this.#masterStates.push(state);
    return 'SUCCESS';
  }

  /** Nobody is waited for any more. What has been collected stays. */
  stopWaiting(): void {
    this.#tasks.clear();
    this.#acknowledgedTasks.clear();
  }

  forgetState(): void {
    this.#operators.clear();
  }

  #collect(identity: OperatorIdentity, parallelism: number, maxParallelism: number): CollectedOperator {
    const { operatorId, name, uid } = identity;
    const known = this.#operators.get(operatorId);
    if (known !== undefined) {
      // Its coordinator may have answered first, and knows no names.
      known.head = { ...known.head, name, uid };
      return known;
    }
    const head = { operatorId, name, uid, parallelism, maxParallelism, coordinatorState: null };
    const operator: CollectedOperator = { head, subtasks: new Map() };
    this.#operators.set(operatorId, operator);
    return operator;
  }
}
