import { statfsSync } from "node:fs";
import { statfs } from "node:fs/promises";

interface Space {
  readonly free: number;
  readonly size: number;
}

/** Room on the disk of a directory, in bytes. A number is as old as the scrape before: a disk that hangs holds up none. */
export function watchSpace(directory: string): { free(): number; size(): number } {
  let last = spaceIn(() => statfsSync(directory));
  let asking = false;
  const refresh = async (): Promise<void> => {
    asking = true;
    const facts = await statfs(directory).catch(() => null);
    last = spaceIn(() => facts);
    asking = false;
  };
  return {
    free() {
      if (!asking) void refresh();
      return last.free;
    },
    size: () => last.size,
  };
}

/** What is free for a process without special rights. Not a number where nobody says. */
function spaceIn(read: () => { bavail: number; blocks: number; bsize: number } | null): Space {
  try {
    const facts = read();
    if (facts !== null) return { free: facts.bavail * facts.bsize, size: facts.blocks * facts.bsize };
  } catch {
    // A disk that says nothing has no number.
  }
  return { free: Number.NaN, size: Number.NaN };
}
