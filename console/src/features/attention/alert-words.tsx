import type { AttentionItem } from "@sluice/contract";
import { t } from "../../language/areas/attention.ts";
import { alertWords } from "../alerts/alert-words.ts";

interface AlertWordsProps {
  readonly rule: string;
  readonly alert: NonNullable<AttentionItem["alert"]>;
}

/** An open alert as one sentence after the name of its rule. */
export default function AlertWords({ rule, alert }: AlertWordsProps) {
  return t("attention.finding.alert_open", { rule, text: alertWords(alert) });
}
