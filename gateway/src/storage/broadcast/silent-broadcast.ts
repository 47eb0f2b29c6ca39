import type { Broadcast } from "#ports/index.ts";

/** Where there is one process, nobody else is spoken to. */
export function createSilentBroadcast(): Broadcast {
  return {
    send: () => undefined,
    subscribe: () => () => undefined,
    isUp: false,
    close: async () => undefined,
  };
}
