import type { ModelConfig, PriceConfig, ProviderConfig } from "@sluice/contract/config-file";
import type { ConsoleModel } from "@sluice/contract/console";
import type { PriceVersion } from "#core/index.ts";

/** Without `api_key`, the stored key is kept unless the base URL changes; null removes it. */
export type ProviderDraft = Omit<ProviderConfig, "api_key" | "billing"> & {
  readonly api_key?: string | null | undefined;
  /** Left out: kept. null: removed. */
  readonly billing?: ProviderConfig["billing"] | null;
};

export type DeploymentRecord = Omit<ConsoleModel["deployments"][number], "health">;

/** `context_window` null: from the price list. `unpriced` null: from the settings. */
export interface ModelRecord
  extends Pick<ConsoleModel, "name" | "type" | "owned_by" | "max_output_tokens" | "context_window" | "unpriced">,
    Pick<ConsoleModel, "fallbacks" | "managed_by" | "created_at"> {
  readonly price: PriceVersion | null;
  readonly next_price: PriceVersion | null;
  readonly deployments: readonly DeploymentRecord[];
}

/** Without `price`, the current version is kept; null removes it. */
export type ModelDraft = Omit<
  ModelConfig,
  "price" | "next_price" | "max_output_tokens" | "context_window" | "unpriced"
> & {
  readonly price?: PriceConfig | null | undefined;
  /** Where `price` is from. Default: set manually. */
  readonly price_origin?: "price_list" | undefined;
  /** A price that takes effect at a future time (Unix milliseconds); null removes it. */
  readonly next_price?: { readonly from: number; readonly price: PriceConfig } | null | undefined;
  readonly max_output_tokens?: number | null | undefined;
  readonly context_window?: number | null | undefined;
  /** null: from the settings. */
  readonly unpriced?: "allow" | "block" | null | undefined;
};

/** A price list downloaded at runtime. */
export interface StoredPriceList {
  readonly text: string;
  /** Its URL. */
  readonly source: string;
  /** SHA-256 of the text, hex. */
  readonly digest: string;
  /** Unix milliseconds. */
  readonly loadedAt: number;
}
