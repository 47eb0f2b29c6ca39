import type { SupplyStore } from "#ports/index.ts";
import type { ControlOptions } from "./apply-config.ts";
import { importModels } from "./model-import.ts";
import { modelWrites } from "./model-writes.ts";
import { oidcWrites } from "./oidc-writes.ts";
import { providerWrites } from "./provider-writes.ts";
import { settingWrites } from "./setting-writes.ts";

/** Providers, models, settings and single sign-on, as the console changes them. */
export function supplyStore(options: ControlOptions): SupplyStore {
  return {
    ...providerWrites(options),
    ...modelWrites(options),
    ...settingWrites(options),
    ...oidcWrites(options),
    importModels: (provider, wanted, doer) => importModels(options, provider, wanted, doer),
  };
}
