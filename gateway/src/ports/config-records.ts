import type { ModelConfig, PriceConfig, ProviderConfig } from "@sluice/contract/config-file";
import type { ConsoleModel } from "@sluice/contract/console";
import type { PriceVersion } from "#core/index.ts";

/** What a provider should become. Without `api_key` the stored one stays, unless the address changes. null removes it. */
export type ProviderDraft = Omit<ProviderConfig, "api_key"> & { readonly api_key?: string | null | undefined };

export type DeploymentRecord = Omit<ConsoleModel["deployments"][number], "health">;

/** A model as it is stored. `context_window`: as somebody set it; null: as the price list knows it. `unpriced` null: as the settings say. */
export interface ModelRecord
  extends Pick<ConsoleModel, "name" | "type" | "owned_by" | "max_output_tokens" | "context_window" | "unpriced">,
    Pick<ConsoleModel, "fallbacks" | "managed_by" | "created_at"> {
  readonly price: PriceVersion | null;
  /** A price that begins later. */
  readonly next_price: PriceVersion | null;
  readonly deployments: readonly DeploymentRecord[];
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
