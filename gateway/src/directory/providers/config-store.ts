import type { ConfigStore } from "#ports/index.ts";
import type { ControlOptions } from "../control-options.ts";
import { settingWrites } from "../settings.ts";
import { importModels } from "./model-import.ts";
import { modelWrites } from "./models.ts";
import { oidcWrites } from "./oidc-writes.ts";
import { priceListWrites } from "./price-list-writes.ts";

import { providerWrites } from "./providers.ts";

/** Providers, models, settings and single sign-on, as the console changes them. */
export function configStore(options: ControlOptions): ConfigStore {
  return {
    ...providerWrites(options),
    ...modelWrites(options),
    ...settingWrites(options),
    ...oidcWrites(options),
    ...priceListWrites(options),
    importModels: (provider, wanted, auditSource) => importModels(options, provider, wanted, auditSource),
  };
}
