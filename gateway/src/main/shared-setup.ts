import type { SharedSetup } from "#identity/index.ts";
import type { Control } from "./control.ts";
import { inTurn, type Processes } from "./processes.ts";

const fact = "setup.link";

/** One set-up link for all processes: the first to start shows it, and any of them takes it. Nothing where there is one process. */
export function sharedSetup(control: Control, { leadership }: Processes): { readonly shared?: SharedSetup } {
  const { clock, facts, instanceId, instances, vault, database } = control;
  if (database.flavour.name === "sqlite") return {};
  const read = async (): Promise<Shown | null> => {
    const text = await facts.read(fact);
    return text === null ? null : (JSON.parse(text) as Shown);
  };
  const shared: SharedSetup = {
    claim: (token) =>
      inTurn({ leadership, clock }, "first start", async () => {
        const shown = await read();
        // Of a process that is gone nobody knows who has seen it: a new one takes its place.
        if (shown !== null && shown.by !== instanceId && (await instances.isAlive(shown.by))) return false;
        await facts.write(fact, JSON.stringify({ by: instanceId, digest: vault.digest(token) } satisfies Shown));
        return true;
      }),
    matches: async (token) => (await read())?.digest === vault.digest(token),
  };
  return { shared };
}

interface Shown {
  readonly by: string;
  readonly digest: string;
}
