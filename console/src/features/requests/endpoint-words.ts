import { modelEndpoints } from "@sluice/contract";
import { t } from "../../language/areas/requests.ts";

/** Endpoints as the ledger names them, and what they are to a reader. */
export const endpointWords: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(modelEndpoints).map(([name, { label }]) => [name, label])),
  video: t("requests.endpoints.videoTasks"),
  "pass-through": t("requests.endpoints.passThrough"),
};
