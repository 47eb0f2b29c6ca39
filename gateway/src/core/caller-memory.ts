import { addressKey } from "./address.ts";
import { Failure } from "./failure.ts";

/** The key and workspace that memory is charged to. A Principal is one. */
export interface MemoryOwner {
  readonly key: { readonly id: string };
  readonly workspace: { readonly id: string };
}

export function ownerOf(row: { readonly keyId: string; readonly workspaceId: string }): MemoryOwner {
  return { key: { id: row.keyId }, workspace: { id: row.workspaceId } };
}

/** Callers without a key are charged by address, and all together as one workspace. */
export function anonymousOwner(address: string): MemoryOwner {
  return { key: { id: addressKey(address) }, workspace: { id: "" } };
}

/** The owner of the used-up share: the key, its workspace, or all callers together. */
export type ShareProblem = "key" | "workspace" | "all";

/** A workspace may hold this many times as much as one key. */
const workspaceWeight = 3;
const holdersKeptMin = 1_024;

interface Holder {
  used: number;
}

/**
 * A resource that callers share without fixed quotas: a key may hold at most as much as it leaves free. One key alone gets half, two get
 * a third each, and there is always some left for another one. A workspace may hold three times as much as it leaves free.
 */
export class FairShare {
  readonly max: number;
  #used = 0;
  readonly #keys = new Holders();
  readonly #workspaces = new Holders();

  constructor(max: number) {
    this.max = max;
  }

  get used(): number {
    return this.#used;
  }

  usedBy({ key }: Pick<MemoryOwner, "key">): number {
    return this.#keys.of(key.id).used;
  }

  /**
   * Takes `more` for something that already holds `held`. Returns the problem, and takes nothing, if it does not fit. `weight`
   * multiplies what is free, for more important things.
   */
  take({ key, workspace }: MemoryOwner, more: number, weight = 1, held = 0): ShareProblem | null {
    const ofKey = this.#keys.of(key.id);
    const ofWorkspace = this.#workspaces.of(workspace.id);
    const free = this.max - this.#used - more;
    if (free < 0 || ofKey.used + more > weight * free || ofWorkspace.used + more > workspaceWeight * weight * free) {
      // Would it fit if the key, or its workspace, held nothing?
      const wanted = held + more;
      const others = { key: ofKey.used - held, workspace: ofWorkspace.used - held };
      if (wanted <= weight * (free + others.key)) return others.key > 0 ? "key" : "workspace";
      return wanted <= weight * (free + others.workspace) ? "workspace" : "all";
    }
    this.#add(ofKey, ofWorkspace, more);
    return null;
  }

  /** Adds without a check: a negative amount, or something that is already in memory. */
  add({ key, workspace }: MemoryOwner, more: number): void {
    this.#add(this.#keys.of(key.id), this.#workspaces.of(workspace.id), more);
  }

  #add(ofKey: Holder, ofWorkspace: Holder, more: number): void {
    ofKey.used += more;
    ofWorkspace.used += more;
    this.#used += more;
  }
}

/** Amounts by key or workspace. Entries of 0 stay until there are many, because most callers return soon. */
class Holders {
  readonly #holders = new Map<string, Holder>();
  #sweepAt = holdersKeptMin;

  of(id: string): Holder {
    let holder = this.#holders.get(id);
    if (holder === undefined) {
      if (this.#holders.size >= this.#sweepAt) this.#sweep();
      holder = { used: 0 };
      this.#holders.set(id, holder);
    }
    return holder;
  }

  #sweep(): void {
    for (const [id, { used }] of this.#holders) if (used === 0) this.#holders.delete(id);
    this.#sweepAt = Math.max(holdersKeptMin, 2 * this.#holders.size);
  }
}

interface KindOfMemory {
  /** Name in error messages. */
  readonly name: string;
  /** Memory per byte: a body that is assembled, translated or compressed exists twice. */
  readonly times: number;
  /** Smaller things are not counted, because the memory of a connection includes them. */
  readonly freeBytes: number;
  /** See FairShare. Answers weigh more, because they are paid for. */
  readonly weight: number;
}

const memoryKinds = {
  /** Request bodies, until the answer begins. */
  request: { name: "request bodies", times: 1, freeBytes: 0, weight: 1 },
  /** WebSocket messages, from their first byte until they are read. */
  frame: { name: "WebSocket messages", times: 2, freeBytes: 64 * 1024, weight: 1 },
  /** Answers that are read or translated as a whole. */
  answer: { name: "large answers", times: 2, freeBytes: 64 * 1024, weight: 2 },
  /** Events of streams, until they are sent. */
  event: { name: "large events of streams", times: 2, freeBytes: 64 * 1024, weight: 2 },
  /** Bytes written to a caller that has not read them yet. */
  unread: { name: "unread answers", times: 1, freeBytes: 64 * 1024, weight: 2 },
  /** Conversations of WebSockets. */
  conversation: { name: "conversations of WebSockets", times: 1, freeBytes: 0, weight: 0.5 },
} as const satisfies Record<string, KindOfMemory>;

export type MemoryKind = keyof typeof memoryKinds;

export interface MemoryRefusals {
  readonly kind: MemoryKind;
  readonly cause: ShareProblem;
  readonly count: number;
}

export interface CallerMemoryLimits {
  readonly largeBytes: number;
  /** Part for things of at most `smallBytesMax`. */
  readonly smallBytes: number;
  readonly smallBytesMax: number;
}

/** All memory held for callers. Small things have their own part, so that large ones never crowd them out; if it is full, they use the other. */
export class CallerMemory {
  readonly #small: FairShare;
  readonly #large: FairShare;
  readonly #smallBytesMax: number;
  readonly #bytes: Record<MemoryKind, number> = {
    request: 0,
    frame: 0,
    answer: 0,
    event: 0,
    unread: 0,
    conversation: 0,
  };
  readonly #refusals = new Map<string, { kind: MemoryKind; cause: ShareProblem; count: number }>();

  constructor({ largeBytes, smallBytes, smallBytesMax }: CallerMemoryLimits) {
    this.#large = new FairShare(largeBytes);
    this.#small = new FairShare(smallBytes);
    this.#smallBytesMax = smallBytesMax;
    for (const kind of Object.keys(memoryKinds) as MemoryKind[]) {
      for (const cause of ["key", "workspace", "all"] as const) {
        this.#refusals.set(`${kind} ${cause}`, { kind, cause, count: 0 });
      }
    }
  }

  get bytes(): number {
    return this.#small.used + this.#large.used;
  }

  get bytesByKind(): Readonly<Record<MemoryKind, number>> {
    return this.#bytes;
  }

  get refusals(): readonly MemoryRefusals[] {
    return [...this.#refusals.values()];
  }

  /** For one body, message, answer or stream. Release it at the end. */
  open(owner: MemoryOwner, kind: MemoryKind): HeldMemory {
    return new HeldMemory(this, owner, kind);
  }

  /** For HeldMemory: replaces `held` bytes in `part` with `wanted` bytes. Returns the part that holds them, or the problem. */
  move({ owner, kind }: HeldMemory, part: FairShare | null, held: number, wanted: number): FairShare | ShareProblem {
    const { weight } = memoryKinds[kind];
    const first = part === this.#large || wanted > this.#smallBytesMax ? this.#large : this.#small;
    let to = first;
    let problem = part === to ? to.take(owner, wanted - held, weight, held) : to.take(owner, wanted, weight);
    if (problem !== null && first === this.#small) {
      to = this.#large;
      problem = to.take(owner, wanted, weight);
    }
    if (problem !== null) {
      const refusal = this.#refusals.get(`${kind} ${problem}`);
      if (refusal !== undefined) refusal.count++;
      return problem;
    }
    if (part !== null && part !== to) part.add(owner, -held);
    this.#bytes[kind] += wanted - held;
    return to;
  }

  /** Like `move`, without a check. */
  keep({ owner, kind }: HeldMemory, part: FairShare | null, held: number, wanted: number): FairShare {
    const to = part ?? (wanted > this.#smallBytesMax ? this.#large : this.#small);
    to.add(owner, wanted - held);
    this.#bytes[kind] += wanted - held;
    return to;
  }
}

/** The memory of one body, message, answer or stream. */
export class HeldMemory {
  readonly owner: MemoryOwner;
  readonly kind: MemoryKind;
  readonly #memory: CallerMemory;
  #part: FairShare | null = null;
  #held = 0;

  constructor(memory: CallerMemory, owner: MemoryOwner, kind: MemoryKind) {
    this.#memory = memory;
    this.owner = owner;
    this.kind = kind;
  }

  /**
   * Sets how many bytes are held. Throws rate_limit_exceeded (429) if the key or its workspace used up its share, overloaded (503) if
   * there is no memory left; then nothing changes.
   */
  hold(bytes: number): void {
    const problem = this.tryHold(bytes);
    if (problem !== null) throw outOfMemory(this.kind, problem);
  }

  /** Like `hold`, but returns the problem. */
  tryHold(bytes: number): ShareProblem | null {
    const wanted = this.#wanted(bytes);
    if (wanted <= this.#held) {
      this.#keep(wanted);
      return null;
    }
    const moved = this.#memory.move(this, this.#part, this.#held, wanted);
    if (typeof moved === "string") return moved;
    this.#part = moved;
    this.#held = wanted;
    return null;
  }

  /** Sets how many bytes are held without a check. Later requests are refused instead. */
  keep(bytes: number): void {
    this.#keep(this.#wanted(bytes));
  }

  release(): void {
    this.#keep(0);
  }

  #keep(wanted: number): void {
    if (wanted === this.#held) return;
    this.#part = this.#memory.keep(this, this.#part, this.#held, wanted);
    this.#held = wanted;
    if (wanted === 0) this.#part = null;
  }

  #wanted(bytes: number): number {
    const { times, freeBytes } = memoryKinds[this.kind];
    return bytes <= freeBytes ? 0 : bytes * times;
  }
}

function outOfMemory(kind: MemoryKind, problem: ShareProblem): Failure {
  const { name } = memoryKinds[kind];
  if (problem === "all") {
    return new Failure("overloaded", `The gateway holds too many ${name}. Try again later.`, { retryAfterMs: 1_000 });
  }
  const owner = problem === "key" ? "This key" : "The workspace of this key";
  const message = `${owner} uses its full share of the gateway's memory (${name} and others). Try again when some of its calls have finished.`;
  return new Failure("rate_limit_exceeded", message, { retryAfterMs: 2_000, details: { scope: problem } });
}
