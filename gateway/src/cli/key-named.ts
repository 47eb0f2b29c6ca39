import type { ConsoleKey } from "@sluice/contract";
import type { TenantStore } from "#ports/index.ts";
import { CommandFailed } from "./command-failed.ts";

/** The key that an argument names: by its id, its name (`ci`, `acme/ci`), or the beginning of its secret. */
export async function keyNamed(store: Pick<TenantStore, "keyNamed">, text: string): Promise<ConsoleKey> {
  const found = await store.keyNamed(text);
  // The argument is not repeated: somebody may have given the whole secret.
  if (found === null) throw new CommandFailed("there is no such key; see `sluice key list`");
  return found;
}
