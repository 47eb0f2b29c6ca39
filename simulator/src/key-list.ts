import type { ArkAccount } from "./dialects/ark-accounts.ts";

/** Parses accounts from a command line: `ACCESS-KEY:SECRET` or `ACCESS-KEY:SECRET:API-KEY,API-KEY`. */
export function readArkAccounts(rows: readonly string[]): Record<string, ArkAccount> {
  return Object.fromEntries(
    rows.map((row) => {
      const [accessKeyId, secret, apiKeys] = partsOf(row);
      return [accessKeyId, apiKeys === undefined ? { secret } : { secret, apiKeys: apiKeys.split(",") }];
    }),
  );
}

/** `ACCESS-KEY:SECRET`. */
export function readKlingKeys(rows: readonly string[]): Record<string, string> {
  return Object.fromEntries(rows.map((row) => partsOf(row).slice(0, 2)));
}

function partsOf(row: string): [accessKeyId: string, secret: string, apiKeys?: string] {
  const [accessKeyId, secret, apiKeys] = row.split(":");
  if (!accessKeyId || !secret) throw new Error("a key must have the form ACCESS-KEY:SECRET");
  return apiKeys === undefined ? [accessKeyId, secret] : [accessKeyId, secret, apiKeys];
}
