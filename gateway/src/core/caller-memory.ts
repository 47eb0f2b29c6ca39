import { addressKey } from "./address.ts";
import { Failure } from "./failure.ts";

/** Whose room it is. A caller's Principal is one. */
export interface MemoryOwner {
  readonly key: { readonly id: string };
  readonly workspace: { readonly id: string };
}

/** Of what was made by a call of a key. */
export function ownerOf(made: { readonly keyId: string; readonly workspaceId: string }): MemoryOwner {
  return { key: { id: made.keyId }, workspace: { id: made.workspaceId } };
}

/** Why there is no room: the key or its workspace has its share, or nothing is left for anybody. */
export type ShareProblem = "key" | "workspace" | "all";

/** Several keys of one workspace may hold this many times as much as one of them. */
const workspaceWeight = 3;
const holdersKeptMin = 1_024;

class Holder {
  used = 0;
}

/**
 * Room that callers share without fixed parts: a key may hold as much as it leaves free. One key alone takes half of the room, two take a third
 * each, and whoever comes next finds room in any case. Its workspace may hold three times as much as is free.
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
   * Takes `more` for something that holds `held`, or says why not; then nothing is taken. `weight`: times what is free, of what matters more
   * than the rest.
   */
  take({ key, workspace }: MemoryOwner, more: number, weight = 1, held = 0): ShareProblem | null {
    const ofKey = this.#keys.of(key.id);
    const ofWorkspace = this.#workspaces.of(workspace.id);
    const free = this.max - this.#used - more;
    if (free < 0 || ofKey.used + more > weight * free || ofWorkspace.used + more > workspaceWeight * weight * free) {
      const wanted = held + more;
      return problemOf(ofKey.used - held, ofWorkspace.used - held, wanted, { free, weight });
    }
    this.#add(ofKey, ofWorkspace, more);
    return null;
  }

  /** Changes what is held without asking: less, or what is here already. */
  add({ key, workspace }: MemoryOwner, more: number): void {
    this.#add(this.#keys.of(key.id), this.#workspaces.of(workspace.id), more);
  }

  #add(ofKey: Holder, ofWorkspace: Holder, more: number): void {
    ofKey.used += more;
    ofWorkspace.used += more;
    this.#used += more;
  }
}

/** Whether it would fit if the key, or its workspace, held nothing. */
function problemOf(
  ofKey: number,
  ofWorkspace: number,
  more: number,
  { free, weight }: { readonly free: number; readonly weight: number },
): ShareProblem {
  if (more <= weight * (free + ofKey)) return ofKey > 0 ? "key" : "workspace";
  return more <= weight * (free + ofWorkspace) ? "workspace" : "all";
}

/** Those that hold nothing stay until there are many: most come again at once. */
class Holders {
  readonly #holders = new Map<string, Holder>();
  #sweepAt = holdersKeptMin;

  of(id: string): Holder {
    let holder = this.#holders.get(id);
    if (holder === undefined) {
      if (this.#holders.size >= this.#sweepAt) this.#sweep();
      holder = new Holder();
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
  /** As a refusal names it. */
  readonly what: string;
  /** Memory for each byte: what is put together, translated or packed is there twice. */
  readonly times: number;
  /** Up to so many bytes nothing is counted: they are part of what a connection takes. */
  readonly freeBytes: number;
  /** See FairShare: an answer that finds no room has been paid for. */
  readonly weight: number;
}

/** What is held for callers. */
const memoryKinds = {
  /** Bodies of requests, until an answer has begun. */
  request: { what: "request bodies", times: 1, freeBytes: 0, weight: 1 },
  /** WebSocket messages, from their first byte until they are read. */
  frame: { what: "WebSocket messages", times: 2, freeBytes: 64 * 1024, weight: 1 },
  /** Whole answers while they are read and translated. */
  answer: { what: "large answers", times: 2, freeBytes: 64 * 1024, weight: 2 },
  /** Events of streams, until their caller takes them. */
  event: { what: "large events of streams", times: 2, freeBytes: 64 * 1024, weight: 2 },
  /** What was written to a caller who has not read it yet. */
  unread: { what: "unread answers", times: 1, freeBytes: 64 * 1024, weight: 2 },
  /** What WebSockets remember of their conversations. */
  conversation: { what: "conversations of WebSockets", times: 1, freeBytes: 0, weight: 0.5 },
} as const satisfies Record<string, KindOfMemory>;

export type MemoryKind = keyof typeof memoryKinds;

/** Whoever shows no key: known by its address, and together with all others who show none. */
export function anonymousOwner(address: string): MemoryOwner {
  return { key: { id: addressKey(address) }, workspace: { id: "" } };
}

export interface MemoryRefusals {
  readonly kind: MemoryKind;
  readonly cause: ShareProblem;
  readonly count: number;
}

/**
 * All memory that is held for callers. What is small has a room of its own, so that large things never refuse a small one; where that is
 * full it takes of the other.
 */
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

  /** Everything; 0 at rest. */
  get bytes(): number {
    return this.#small.used + this.#large.used;
  }

  get bytesByKind(): Readonly<Record<MemoryKind, number>> {
    return this.#bytes;
  }

  get refusals(): readonly MemoryRefusals[] {
    return [...this.#refusals.values()];
  }

  /** For one body, message, answer or stream, which has to release it. */
  open(owner: MemoryOwner, kind: MemoryKind): HeldMemory {
    return new HeldMemory(this, owner, kind);
  }

  /** For `HeldMemory`: the room that holds `wanted` instead of `held` in `room`, or why there is none. */
  move({ owner, kind }: HeldMemory, room: FairShare | null, held: number, wanted: number): FairShare | ShareProblem {
    const { weight } = memoryKinds[kind];
    const first = room === this.#large || wanted > this.#smallBytesMax ? this.#large : this.#small;
    let to = first;
    let problem = room === to ? to.take(owner, wanted - held, weight, held) : to.take(owner, wanted, weight);
    if (problem !== null && first === this.#small) {
      to = this.#large;
      problem = to.take(owner, wanted, weight);
    }
    if (problem !== null) {
      const refusal = this.#refusals.get(`${kind} ${problem}`);
      if (refusal !== undefined) refusal.count++;
      return problem;
    }
    if (room !== null && room !== to) room.add(owner, -held);
    this.count(kind, wanted - held);
    return to;
  }

  /** The same of what is here already, whether there is room or not. */
  keep({ owner, kind }: HeldMemory, room: FairShare | null, held: number, wanted: number): FairShare {
    const to = room ?? (wanted > this.#smallBytesMax ? this.#large : this.#small);
    to.add(owner, wanted - held);
    this.count(kind, wanted - held);
    return to;
  }

  count(kind: MemoryKind, more: number): void {
    this.#bytes[kind] += more;
  }
}

export interface CallerMemoryLimits {
  readonly largeBytes: number;
  /** The room of what holds no more than `smallBytesMax`. */
  readonly smallBytes: number;
  readonly smallBytesMax: number;
}

/** What one body, message, answer or stream holds. */
export class HeldMemory {
  readonly owner: MemoryOwner;
  readonly kind: MemoryKind;
  readonly #memory: CallerMemory;
  #room: FairShare | null = null;
  #held = 0;

  constructor(memory: CallerMemory, owner: MemoryOwner, kind: MemoryKind) {
    this.#memory = memory;
    this.owner = owner;
    this.kind = kind;
  }

  /**
   * From now on so many bytes are here. Throws rate_limit_exceeded (429) where the key or its workspace holds its share, overloaded (503)
   * where there is no room for anybody; then as much is held as before.
   */
  hold(bytes: number): void {
    const problem = this.tryHold(bytes);
    if (problem !== null) throw noRoom(this.kind, problem);
  }

  /** The same, and says why not. */
  tryHold(bytes: number): ShareProblem | null {
    const wanted = this.#wanted(bytes);
    if (wanted <= this.#held) {
      this.#keep(wanted);
      return null;
    }
    const moved = this.#memory.move(this, this.#room, this.#held, wanted);
    if (typeof moved === "string") return moved;
    this.#room = moved;
    this.#held = wanted;
    return null;
  }

  /** So many bytes are here, whether there is room for them or not: whoever asks next is refused instead. */
  keep(bytes: number): void {
    this.#keep(this.#wanted(bytes));
  }

  release(): void {
    this.#keep(0);
  }

  #keep(wanted: number): void {
    if (wanted === this.#held) return;
    this.#room = this.#memory.keep(this, this.#room, this.#held, wanted);
    this.#held = wanted;
    if (wanted === 0) this.#room = null;
  }

  #wanted(bytes: number): number {
    const { times, freeBytes } = memoryKinds[this.kind];
    return bytes <= freeBytes ? 0 : bytes * times;
  }
}

const whose = {
  key: "This key holds",
  workspace: "The workspace of this key holds",
  all: "The gateway holds",
} as const;

function noRoom(kind: MemoryKind, problem: ShareProblem): Failure {
  const { what } = memoryKinds[kind];
  if (problem === "all") {
    return new Failure("overloaded", `The gateway holds too many ${what} at the moment; try again.`, {
      retryAfterMs: 1_000,
    });
  }
  const message = `${whose[problem]} its share of the gateway's memory, in ${what} and others. Try again when some of its calls have ended.`;
  return new Failure("rate_limit_exceeded", message, { retryAfterMs: 2_000, details: { scope: problem } });
}
