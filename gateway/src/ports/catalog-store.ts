import type {
  CapabilitiesConfig,
  ModelConfig,
  PriceConfig,
  ProviderConfig,
  SettingsConfig,
} from "@sluice/contract/config-file";
import type { ModelType, PriceVersion } from "#core/index.ts";
import type { AuditSource } from "./people-store.ts";
import type { OidcAccount } from "./sign-in.ts";

type Owner = "file" | "console";

/** A provider as it is stored. `settings` are opened: whoever shows them leaves the secret ones out. */
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

/** A provider as it is to become. `api_key` left out: the stored one stays while the address stays; null: none. */
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
  /** null: nobody has said it. */
  readonly outputTokensMax: number | null;
  readonly price: PriceVersion | null;
  readonly deployments: readonly DeploymentRecord[];
  readonly managedBy: Owner;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

/** A model as it is to become. `price` left out: the version in force stays; null: none. */
export type ModelDraft = Omit<ModelConfig, "price" | "max_output_tokens"> & {
  readonly price?: PriceConfig | null | undefined;
  readonly max_output_tokens?: number | null | undefined;
};

/** A model of a provider's, wanted under a name of ours. `ownedBy` and `price` are for one that has to be made. */
export interface WantedModel {
  readonly upstreamModel: string;
  readonly name: string;
  readonly type: ModelType;
  /** null: not told, so it is the kind of the provider. */
  readonly ownedBy: string | null;
  readonly price: PriceConfig | null;
}

export interface ImportReport {
  readonly created: readonly string[];
  readonly extended: readonly string[];
  readonly refused: readonly { readonly name: string; readonly reason: string }[];
}

/**
 * What the console writes of providers, models and settings. Each write is one transaction with its audit rows and its
 * change of the catalog; a write that changes nothing leaves nothing. A `change` is pure and is given what is stored at
 * that moment. Refusals are Failures: `not_found`, `managed_by_file`, `conflict`, and `invalid_request` with `param`.
 */
export interface CatalogStore {
  listProviders(): Promise<readonly ProviderRecord[]>;
  provider(id: string): Promise<ProviderRecord | null>;
  createProvider(draft: ProviderDraft, auditSource: AuditSource): Promise<ProviderRecord>;
  updateProvider(
    id: string,
    change: (before: ProviderRecord) => ProviderDraft,
    auditSource: AuditSource,
  ): Promise<ProviderRecord>;
  /** Throws `conflict` while a model leads to it. */
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
  /** Every price the model had, newest first. */
  listPrices(model: string): Promise<readonly PriceVersion[]>;
  /** Makes models, or adds the provider to those that are there; what cannot be done is told, the rest is done. */
  importModels(provider: string, wanted: readonly WantedModel[], auditSource: AuditSource): Promise<ImportReport>;
  /** In force, with every default filled in. `managedByFile` are the names that the config file sets. */
  settings(): Promise<{ readonly settings: SettingsConfig; readonly managedByFile: readonly string[] }>;
  /** What is not said stays as it is. */
  updateSettings(change: SettingsConfig, auditSource: AuditSource): Promise<void>;
  /** Accounts of single sign-on, by id. */
  oidcAccounts(): Promise<readonly OidcAccount[]>;
  putOidcAccount(
    id: string,
    change: (before: OidcAccount | null) => Omit<OidcAccount, "id">,
    auditSource: AuditSource,
  ): Promise<OidcAccount>;
  removeOidcAccount(id: string, auditSource: AuditSource): Promise<void>;
}
