/** Sets of small numbers, each kept once and named by a number: a hundred thousand files have a handful of sets of users. */
export class IdSets {
  /** The empty set. */
  static readonly EMPTY = 0;
  private readonly sets: (readonly number[])[] = [[]];
  private readonly numbers = new Map<string, number>([['', 0]]);
  private readonly next: Map<number, number>[] = [new Map()];

  /** The set with one more member; the same set if it has it already. */
  add(set: number, member: number): number {
    const known = this.next[set]?.get(member);
    if (known !== undefined) return known;
    const members = this.members(set);
    const result = members.includes(member) ? set : this.numberOf([...members, member].sort((a, b) => a - b));
    this.next[set]?.set(member, result);
    return result;
  }

  /** In ascending order. */
  members(set: number): readonly number[] {
    return this.sets[set] ?? [];
  }

  /** Every set by its number. */
  get all(): readonly (readonly number[])[] {
    return this.sets;
  }

  private numberOf(members: readonly number[]): number {
    const key = members.join(' ');
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    const number = this.sets.length;
    this.sets.push(members);
    this.next.push(new Map());
    this.numbers.set(key, number);
    return number;
  }
}
