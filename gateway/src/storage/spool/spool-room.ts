import { Failure, FairShare, type MemoryOwner, type ShareProblem } from "#core/index.ts";

/** How much all spooled bodies together hold, in memory and on disk, shared between keys and workspaces. */
export class SpoolRoom {
  readonly #memory: FairShare;
  readonly #disk: FairShare;

  constructor(memoryBytesMax: number, diskBytesMax: number) {
    this.#memory = new FairShare(memoryBytesMax);
    this.#disk = new FairShare(diskBytesMax);
  }

  /** False when memory is taken: the body then goes to disk early. */
  takeMemory(owner: MemoryOwner, bytes: number): boolean {
    return this.#memory.take(owner, bytes) === null;
  }

  giveMemory(owner: MemoryOwner, bytes: number): void {
    this.#memory.add(owner, -bytes);
  }

  /** For a body that holds `held`. Throws rate_limit_exceeded, or no_deployment_available where nothing is left for anybody. */
  takeDisk(owner: MemoryOwner, bytes: number, held: number): void {
    const problem = this.#disk.take(owner, bytes, 1, held);
    if (problem === "all") throw noRoom();
    if (problem !== null) throw shareHeld(problem);
  }

  giveDisk(owner: MemoryOwner, bytes: number): void {
    this.#disk.add(owner, -bytes);
  }
}

export function noRoom(cause?: unknown): Failure {
  return new Failure("no_deployment_available", "The gateway holds too many large bodies at the moment; try again.", {
    retryAfterMs: 1_000,
    cause,
  });
}

function shareHeld(problem: Exclude<ShareProblem, "all">): Failure {
  const whose = problem === "key" ? "This key holds" : "The workspace of this key holds";
  const message = `${whose} its share of the gateway's space for forms and other large bodies. Try again when some of its calls have ended.`;
  return new Failure("rate_limit_exceeded", message, { retryAfterMs: 2_000, details: { scope: problem } });
}
