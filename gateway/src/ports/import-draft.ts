import type {
  BudgetPolicyConfig,
  GroupConfig,
  KeyConfig,
  ModelConfig,
  ProviderConfig,
  UserConfig,
  WorkspaceConfig,
} from "@sluice/contract/config-file";
import type { LedgerEntry, Secret } from "#core/index.ts";
import type { ApplyReport } from "./audit.ts";

/** Gateways with an importer. */
export const importProducts = ["litellm", "new-api", "bifrost", "portkey", "openrouter"] as const;
export type ImportProduct = (typeof importProducts)[number];

/** The configuration of another gateway in the words of the config file. */
export interface ImportDraft {
  readonly product: ImportProduct;
  readonly providers: readonly ProviderConfig[];
  readonly models: readonly ImportedModel[];
  readonly workspaces: readonly ImportedWorkspace[];
  /** Users of the console and their workspaces. None becomes an administrator. */
  readonly users: readonly ImportedUser[];
  /** Budget policies of the installation, with names of objects of the draft. */
  readonly budgets: readonly BudgetPolicyConfig[];
  readonly notCarried: readonly NotCarried[];
}

export interface ImportedModel extends Omit<ModelConfig, "next_price"> {
  /** The price is from the price list. Default: it was set by hand. */
  readonly price_origin?: "price_list" | undefined;
}

/** USD that count in the current period of its budget already, with the spend of its keys. */
interface Spent {
  readonly spent?: number | undefined;
}

export interface ImportedWorkspace
  extends Omit<WorkspaceConfig, "keys" | "groups" | "guardrails" | "pass_through">,
    Spent {
  readonly groups?: readonly (Omit<GroupConfig, "pass_through"> & Spent)[] | undefined;
  readonly keys: readonly ImportedKey[];
}

export interface ImportedUser extends Pick<UserConfig, "email" | "name"> {
  readonly workspaces: readonly (NonNullable<UserConfig["workspaces"]>[number] & Spent)[];
}

export interface ImportedKey extends Omit<KeyConfig, "secret" | "pass_through">, Spent {
  /** null: it must be created here. */
  readonly secret: ImportedSecret | null;
  /** Address of a user of `users` who is a member of the workspace: the key counts against their limits there. */
  readonly owner?: string | undefined;
}

/** A secret, or the digest that another gateway stores. `sha256`: of the whole secret, in hexadecimal. */
export type ImportedSecret = Secret | { readonly sha256: string; readonly lastFour: string };

/** An object or setting that cannot be imported, such as `key ci`, and the reason. */
export interface NotCarried {
  readonly object: string;
  readonly reason: string;
}

/** Money that an owner spent at the other gateway. "" for a group or key: of the workspace or group as a whole. */
export interface OpeningBalance {
  readonly importId: string;
  readonly workspaceId: string;
  readonly groupId: string;
  readonly keyId: string;
  readonly personId?: string | undefined;
  /** May be negative, if the parts have other periods than the whole. */
  readonly nanoUsd: number;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Makes the ledger entry of an opening balance. */
export type EntryOfBalance = (balance: OpeningBalance) => LedgerEntry;

export interface ImportResult {
  /** null: nothing was made, or it was only planned. */
  readonly id: string | null;
  readonly changes: ApplyReport;
  /** How many objects were made by an earlier import. */
  readonly unchanged: number;
  /** Objects that exist already and were not made by an import, with what depends on them. */
  readonly skipped: readonly NotCarried[];
}

export interface UndoResult {
  readonly changes: ApplyReport;
  /** Objects that were changed since, or that other objects need. */
  readonly remaining: readonly NotCarried[];
}
