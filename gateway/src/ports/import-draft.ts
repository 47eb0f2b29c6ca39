import type { KeyConfig, ModelConfig, ProviderConfig, UserConfig, WorkspaceConfig } from "@sluice/contract/config-file";
import type { Secret } from "#core/index.ts";
import type { ApplyReport } from "./audit.ts";

/** Gateways with an importer. */
export const importProducts = ["litellm"] as const;
export type ImportProduct = (typeof importProducts)[number];

/** The configuration of another gateway in the words of the config file. */
export interface ImportDraft {
  readonly product: ImportProduct;
  readonly providers: readonly ProviderConfig[];
  readonly models: readonly ImportedModel[];
  readonly workspaces: readonly ImportedWorkspace[];
  /** Users of the console and their workspaces. None becomes an administrator. */
  readonly users: readonly UserConfig[];
  readonly notCarried: readonly NotCarried[];
}

export interface ImportedModel extends Omit<ModelConfig, "next_price"> {
  /** The price is from the price list. Default: it was set by hand. */
  readonly price_origin?: "price_list" | undefined;
}

export interface ImportedWorkspace extends Omit<WorkspaceConfig, "keys" | "guardrails" | "pass_through"> {
  readonly keys: readonly ImportedKey[];
}

export interface ImportedKey extends Omit<KeyConfig, "secret" | "pass_through"> {
  /** null: it must be created here. */
  readonly secret: ImportedSecret | null;
  /** Address of a user of `users` who is a member of the workspace: the key counts against their limits there. */
  readonly owner?: string | undefined;
}

/** A secret, or what another gateway knows of it. `sha256`: of the whole secret, in hexadecimal. */
export type ImportedSecret = Secret | { readonly sha256: string; readonly lastFour: string };

/** What cannot be imported: `key ci` and the reason. */
export interface NotCarried {
  readonly object: string;
  readonly reason: string;
}

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
