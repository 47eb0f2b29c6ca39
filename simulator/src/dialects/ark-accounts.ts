import { accountOfKey } from "../seal.ts";

/** An account with its access key: it owns assets, and the tasks of its API keys. */
export interface ArkAccount {
  /** The secret access key. */
  readonly secret: string;
  /** Its API keys for the data plane. Nothing: all keys that no other account has. */
  readonly apiKeys?: readonly string[];
  /** The project that its API keys belong to: tasks use assets of this project only. Nothing: of any. */
  readonly project?: string;
}

/** The pair of keys that signs when nobody says otherwise. */
export const arkAccountsUsual: Readonly<Record<string, ArkAccount>> = Object.freeze({
  AKTESTEXAMPLE: Object.freeze({ secret: "SecretKeyExample==" }),
});

export interface ArkAccounts {
  /** Null for an access key that nobody has. */
  secretOf(accessKeyId: string): string | null;
  /** Who calls the data plane: an access key's account, or a digest of a key that is in no list. */
  ofKey(apiKey: string): string;
  /** Whether `account` may use what `accessKeyId` owns in this project. */
  mayUse(account: string, accessKeyId: string, project: string): boolean;
}

export function createArkAccounts(given: Readonly<Record<string, ArkAccount>>): ArkAccounts {
  const accounts = new Map(Object.entries(given));
  const byApiKey = new Map<string, string>();
  for (const [accessKeyId, { apiKeys }] of accounts) {
    for (const apiKey of apiKeys ?? []) byApiKey.set(apiKey, accessKeyId);
  }
  return {
    secretOf: (accessKeyId) => accounts.get(accessKeyId)?.secret ?? null,
    ofKey: (apiKey) => byApiKey.get(apiKey) ?? accountOfKey(apiKey),
    mayUse(account, accessKeyId, project) {
      const owner = accounts.get(accessKeyId);
      if (owner === undefined || (owner.project ?? project) !== project) return false;
      return owner.apiKeys === undefined ? !accounts.has(account) : account === accessKeyId;
    },
  };
}
