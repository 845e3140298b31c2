/** Where the frames of a file start, which handles then point at: found by one walk through the file, and kept for a while. */

/** Sorted places, with a length for each. */
export class FrameMap {
  private starts = new Float64Array(64);
  private lengths = new Float64Array(64);
  size = 0;
  /** True if there were more frames than can be kept. */
  overflown = false;

  constructor(private readonly maxFrames: number) {}

  /** Adds a frame behind all others. */
  add(start: number, length: number): void {
    if (this.size === this.maxFrames) {
      this.overflown = true;
      return;
    }
    if (this.size === this.starts.length) {
      this.starts = grown(this.starts);
      this.lengths = grown(this.lengths);
    }
    this.starts[this.size] = start;
    this.lengths[this.size] = length;
    this.size++;
  }

  /** The length of the frame that starts there; undefined if none does. */
  lengthAt(start: number): number | undefined {
    let low = 0;
    let high = this.size - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const value = this.starts[middle] as number;
      if (value === start) return this.lengths[middle];
      if (value < start) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }
}

function grown(values: Float64Array): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(values.length * 2);
  larger.set(values);
  return larger;
}

/** The maps used last, as many as stay below a number of frames in all. */
export class FrameMaps {
  private readonly maps = new Map<string, Promise<FrameMap>>();
  private readonly sizes = new Map<string, number>();
  private total = 0;

  constructor(private readonly maxFrames: number) {}

  /** The map of a file, by `walk` if it is not known. A failure is kept as well. */
  async of(key: string, walk: (map: FrameMap) => Promise<void>): Promise<FrameMap> {
    const known = this.maps.get(key);
    if (known !== undefined) {
      this.maps.delete(key);
      this.maps.set(key, known);
      return known;
    }
    const make = async (): Promise<FrameMap> => {
      const map = new FrameMap(this.maxFrames);
      await walk(map);
      return map;
    };
    const made = make();
    this.maps.set(key, made);
    // A file that is broken takes some room, too.
    const size = await made.then(
      (map) => map.size,
      () => 0,
    );
    this.note(key, size + 16);
    return made;
  }

  private note(key: string, size: number): void {
    this.sizes.set(key, size);
    this.total += size;
    for (const old of this.maps.keys()) {
      if (this.total <= this.maxFrames) break;
      const oldSize = this.sizes.get(old);
      if (old === key || oldSize === undefined) continue;
      this.maps.delete(old);
      this.sizes.delete(old);
      this.total -= oldSize;
    }
  }
}
