import { t } from "../../language/areas/limits.ts";
import { limits } from "../../language/en/limits.ts";
import { remarks } from "../../language/remark.ts";

/** Why an alert was not sent. */
export const alertProblemWords = remarks(t, "limits.alert.problem", limits.alert.problem);
