import { modelEndpoints } from "@sluice/contract";
import { t } from "../../language/areas/requests.ts";

/** Readable names of the ledger's endpoints. */
export const endpointWords: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(modelEndpoints).map(([name, { label }]) => [name, label])),
  video: t("requests.endpoints.videoTasks"),
  "pass-through": t("requests.endpoints.passThrough"),
  adjustment: t("requests.endpoints.adjustment"),
};
