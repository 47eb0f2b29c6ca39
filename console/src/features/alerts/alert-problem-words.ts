import { t } from "../../language/areas/alerts.ts";
import { alerts } from "../../language/en/alerts.ts";
import { remarks } from "../../language/remark.ts";

/** Why a message was not sent. */
export const alertProblemWords = remarks(t, "alerts.problem", alerts.problem);
