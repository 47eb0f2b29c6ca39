import { type JournalDirectory, openJournalSlot } from "#storage/index.ts";
import type { Control } from "./control.ts";

/** A journal of this process's own among those that share the data directory; or `alone`, where nobody may share it. */
export function openSlot({ control, alone }: { readonly control: Control; readonly alone: boolean }): JournalDirectory {
  const installation = installationOf(control);
  return openJournalSlot(control.journalPath, { process: control.instanceId, installation, alone });
}

/** The same for all processes on one database: they share its pepper, and nobody learns it from this. */
export function installationOf({ vault }: Pick<Control, "vault">): string {
  return vault.digest("journal installation");
}
