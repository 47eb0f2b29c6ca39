import { accountOfKey } from "../seal.ts";

/** An account with its access key. It owns assets, and the tasks of its API keys. */
export interface ArkAccount {
  /** The secret access key. */
  readonly secret: string;
  /** Its API keys for the data plane; absent for all keys that no other account lists. */
  readonly apiKeys?: readonly string[];
  /** The project of its API keys: tasks may only use assets of this project. Absent for all projects. */
  readonly project?: string;
}

/** The default pair of keys. */
export const defaultArkAccounts: Readonly<Record<string, ArkAccount>> = Object.freeze({
  AKTESTEXAMPLE: Object.freeze({ secret: "SecretKeyExample==" }),
});

export interface ArkAccounts {
  /** Returns null for an unknown access key. */
  secretOf(accessKeyId: string): string | null;
  /** The caller of the data plane: an access key's account, or a digest of a key that is not listed. */
  ofKey(apiKey: string): string;
  /** Whether `account` may use assets of `accessKeyId` in this project. */
  mayUse(account: string, accessKeyId: string, project: string): boolean;
}

export function createArkAccounts(list: Readonly<Record<string, ArkAccount>>): ArkAccounts {
  const accounts = new Map(Object.entries(list));
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
