import { unnamedModels } from "@sluice/contract";
import { t } from "../language/areas/components.ts";

const words: Readonly<Record<string, string>> = {
  [unnamedModels.unknown]: t("components.models.unknown"),
  [unnamedModels.unread]: t("components.models.unread"),
  [unnamedModels.passThrough]: t("components.models.passThrough"),
};

/** A model's name in the ledger for display: calls without a model of the gateway have placeholders there. */
export function modelLabel(name: string): string {
  return words[name] ?? name;
}
