import type {
  CapabilitiesConfig,
  ModelConfig,
  PriceConfig,
  ProviderConfig,
  SettingsChange,
  SettingsConfig,
} from "@sluice/contract/config-file";
import type { Remark } from "@sluice/contract/words";
import type { ModelType, PriceVersion } from "#core/index.ts";
import type { AuditSource } from "./people-store.ts";
import type { OidcAccount } from "./sign-in.ts";

type Owner = "file" | "console" | "suspended";

/** A provider as it is stored. `settings` are decrypted: code that shows them must leave the secret ones out. */
export interface ProviderRecord {
  readonly id: string;
  readonly kind: string;
  readonly baseUrl: string;
  readonly hasApiKey: boolean;
  readonly allowPrivateNetwork: boolean;
  readonly timeouts: NonNullable<ProviderConfig["timeouts"]>;
  readonly disconnect: "cancel" | "drain" | null;
  readonly enabled: boolean;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly managedBy: Owner;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

/** What a provider should become. Without `api_key` the stored one stays, unless the address changes. null removes it. */
export type ProviderDraft = Omit<ProviderConfig, "api_key"> & { readonly api_key?: string | null | undefined };

export interface DeploymentRecord {
  readonly id: string;
  readonly provider: string;
  readonly upstreamModel: string;
  readonly priority: number;
  readonly weight: number;
  readonly enabled: boolean;
  readonly capabilities: CapabilitiesConfig | null;
}

export interface ModelRecord {
  readonly name: string;
  readonly type: ModelType;
  readonly ownedBy: string;
  readonly fallbacks: readonly string[];
  /** null: not known. */
  readonly outputTokensMax: number | null;
  /** As somebody set it; null: as the price list knows it. */
  readonly contextWindow: number | null;
  readonly price: PriceVersion | null;
  /** A price that begins later. */
  readonly nextPrice: PriceVersion | null;
  /** While it has no price. null: as the settings say. */
  readonly unpriced: "allow" | "block" | null;
  readonly deployments: readonly DeploymentRecord[];
  readonly managedBy: Owner;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

/** What a model should become. Without `price` the current price version stays. null removes the price. */
export type ModelDraft = Omit<
  ModelConfig,
  "price" | "next_price" | "max_output_tokens" | "context_window" | "unpriced"
> & {
  readonly price?: PriceConfig | null | undefined;
  /** A price that begins later (Unix milliseconds); null takes it away. */
  readonly next_price?: { readonly from: number; readonly price: PriceConfig } | null | undefined;
  readonly max_output_tokens?: number | null | undefined;
  readonly context_window?: number | null | undefined;
  /** null: as the settings say. */
  readonly unpriced?: "allow" | "block" | null | undefined;
};

/** `from`: Unix milliseconds; null: now. */
interface TakenPrice {
  readonly model: string;
  readonly price: PriceConfig;
  readonly from: number | null;
}

/** A model of a provider that is imported under one of our names. `ownedBy` and `price` are used if the model is new. */
export interface WantedModel {
  readonly upstreamModel: string;
  readonly name: string;
  readonly type: ModelType;
  /** null: not known; then the kind of the provider is used. */
  readonly ownedBy: string | null;
  /** As the price list has it. */
  readonly price: PriceConfig | null;
  /** As the provider tells it; null: it does not. */
  readonly outputTokensMax: number | null;
}

/** A price list that was taken from elsewhere than the program. */
export interface StoredPriceList {
  readonly text: string;
  /** Where it was taken from. */
  readonly source: string;
  /** SHA-256 of the text, in hexadecimal. */
  readonly digest: string;
  /** Unix milliseconds. */
  readonly takenAt: number;
}

export interface ImportReport {
  readonly created: readonly string[];
  readonly extended: readonly string[];
  readonly refused: readonly ImportRefusal[];
}

/** `reason`: the same in a sentence. */
export type ImportRefusal = Remark<"importRefusal"> & { readonly name: string; readonly reason: string };

/**
 * Writes providers, models, settings and single sign-on for the admin API. Each write is one transaction with its audit
 * rows and its change notice. A write that changes nothing leaves neither. A `change` function is pure; it gets what is
 * stored at that moment. Refusals are Failures: `not_found`, `managed_by_file`, `conflict`, and `invalid_request` with
 * `param`.
 */
export interface ConfigStore {
  listProviders(): Promise<readonly ProviderRecord[]>;
  provider(id: string): Promise<ProviderRecord | null>;
  createProvider(draft: ProviderDraft, auditSource: AuditSource): Promise<ProviderRecord>;
  updateProvider(
    id: string,
    change: (before: ProviderRecord) => ProviderDraft,
    auditSource: AuditSource,
  ): Promise<ProviderRecord>;
  /** Throws `conflict` while a deployment uses it. */
  removeProvider(id: string, auditSource: AuditSource): Promise<void>;
  listModels(): Promise<readonly ModelRecord[]>;
  model(name: string): Promise<ModelRecord | null>;
  createModel(draft: ModelDraft, auditSource: AuditSource): Promise<ModelRecord>;
  updateModel(
    name: string,
    change: (before: ModelRecord) => ModelDraft,
    auditSource: AuditSource,
  ): Promise<ModelRecord>;
  /** Throws `conflict` while another model falls back to it. */
  removeModel(name: string, auditSource: AuditSource): Promise<void>;
  /** All prices that the model has had, newest first. */
  listPrices(model: string): Promise<readonly PriceVersion[]>;
  /** Makes models, or adds the provider to existing ones. What cannot be done is reported; the rest is done. */
  importModels(provider: string, wanted: readonly WantedModel[], auditSource: AuditSource): Promise<ImportReport>;
  /** null: the one that comes with the program is in use. */
  storedPriceList(): Promise<StoredPriceList | null>;
  storePriceList(priceList: Omit<StoredPriceList, "takenAt">, auditSource: AuditSource): Promise<void>;
  /**
   * Takes prices of a price list. A model whose price somebody has set meanwhile, and one that is gone, keep what they have. Gives the
   * names of those that were changed.
   */
  takePrices(prices: readonly TakenPrice[], auditSource: AuditSource): Promise<readonly string[]>;
  /** The current settings with all defaults. `managedByFile`: the names that the config file sets. */
  settings(): Promise<{ readonly settings: SettingsConfig; readonly managedByFile: readonly string[] }>;
  /** Fields that are left out do not change; null takes a setting away. */
  updateSettings(change: SettingsChange, auditSource: AuditSource): Promise<void>;
  /** Accounts of single sign-on, by id. */
  oidcAccounts(): Promise<readonly OidcAccount[]>;
  putOidcAccount(
    id: string,
    change: (before: OidcAccount | null) => Omit<OidcAccount, "id">,
    auditSource: AuditSource,
  ): Promise<OidcAccount>;
  removeOidcAccount(id: string, auditSource: AuditSource): Promise<void>;
}
