import { isReadFromVendor } from "@sluice/contract/words";
import { createAdjustments } from "#ledger/index.ts";
import type { Reconciliation } from "#reconciliation/index.ts";
import type { Base } from "./open-base.ts";
import type { Calls } from "./open-calls.ts";
import type { Data } from "./open-data.ts";
import type { Governance } from "./open-governance.ts";

/** When due bills are first read after a start, and how often afterwards. */
const firstReadMs = 60_000;
const readMs = 3_600_000;

/** Compares vendors' bills with the ledger. Most installations have no billing source, so the module is loaded at first use. */
export function openReconciliation(
  { control, configSnapshot, processes, references, clock, observer, ending, metrics }: Base,
  { reports }: Data,
  { admission }: Governance,
  { providerClient }: Calls,
): () => Promise<Reconciliation> {
  const { controlStore, database, ids, ledgerStore } = control;
  const adjustments = createAdjustments({
    store: ledgerStore,
    onBooked: (entries) => admission.storedElsewhere(entries),
  });
  let opened: Promise<Reconciliation> | null = null;
  const open = () => {
    opened ??= import("#reconciliation/index.ts").then(
      ({ createBillStore, Reconciliation: Opened }) =>
        new Opened({
          ...{ reports, adjustments, clock, observer, leadership: processes.leadership },
          vendors: { client: providerClient, reveal: (key) => references.reveal(key) },
          store: createBillStore({ database, clock: control.clock, ids }),
          accounts: () => controlStore.billingAccounts(),
          configSnapshot: () => configSnapshot.current,
        }),
    );
    return opened;
  };
  metrics.billDifferences(clock, async () => {
    if ((await controlStore.billingAccounts()).length === 0) return [];
    return await (await open()).differences();
  });
  const stopping = new AbortController();
  let reading: Promise<void> = Promise.resolve();
  let cancelTimer = (): void => undefined;
  const readDue = async (): Promise<void> => {
    try {
      if (!(await controlStore.billingAccounts()).some(({ kind }) => isReadFromVendor(kind))) return;
      await (await open()).readDue(stopping.signal);
    } catch (error) {
      if (!stopping.signal.aborted) observer.log("warn", "failed to find due bills; retrying later", { error });
    }
  };
  const schedule = (ms: number): void => {
    if (stopping.signal.aborted) return;
    cancelTimer = clock.after(ms, () => {
      reading = readDue().finally(() => schedule(readMs));
    });
  };
  schedule(firstReadMs);
  ending.defer("vendors' bills", async () => {
    stopping.abort();
    cancelTimer();
    await reading;
  });
  return open;
}
