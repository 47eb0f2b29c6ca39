import type { CapabilitiesConfig, ModelConfig, PriceConfig, ProviderConfig } from "@sluice/contract/config-file";
import type { Deployment, Model, PriceVersion } from "#core/index.ts";

type Owner = "file" | "console" | "suspended";

/** What a provider should become. Without `api_key` the stored one stays, unless the address changes. null removes it. */
export type ProviderDraft = Omit<ProviderConfig, "api_key"> & { readonly api_key?: string | null | undefined };

export interface DeploymentRecord extends Omit<Deployment, "provider" | "contextWindow" | "capabilities"> {
  readonly provider: string;
  readonly capabilities: CapabilitiesConfig | null;
}

export interface ModelRecord extends Pick<Model, "name" | "type" | "ownedBy" | "fallbacks" | "price"> {
  /** null: not known. */
  readonly outputTokensMax: number | null;
  /** As somebody set it; null: as the price list knows it. */
  readonly contextWindow: number | null;
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
