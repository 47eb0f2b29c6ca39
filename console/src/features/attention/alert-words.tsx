import type { AttentionItem } from "@sluice/contract";
import { alertWords } from "../alerts/alert-words.ts";

interface AlertWordsProps {
  readonly alert: AttentionItem["alerts"][number];
}

/** An open alert as one sentence. */
export default function AlertWords({ alert }: AlertWordsProps) {
  return alertWords(alert);
}
