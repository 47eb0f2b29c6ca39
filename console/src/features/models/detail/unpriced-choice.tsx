import { Select, Stack, Text } from "@mantine/core";
import type { ConsoleModel } from "@sluice/contract";
import { useAct } from "../../../api/use-act.ts";
import { t } from "../../../language/areas/models.ts";
import { afterCatalogChange } from "../../catalog/catalog-routes.ts";

/** The handling of requests for a model without a price, and the override for this model. */
export function UnpricedChoice({ model, disabled }: { readonly model: ConsoleModel; readonly disabled: boolean }) {
  const save = useAct("models.update", { invalidates: afterCatalogChange, done: t("models.unpriced.saved") });
  const choices = [
    { value: "settings", label: t("models.unpriced.settings") },
    { value: "allow", label: t("models.unpriced.allow") },
    { value: "block", label: t("models.unpriced.block") },
  ];
  return (
    <Stack gap="sm">
      <Text size="sm">{standing[model.calls]}</Text>
      <Select
        label={t("models.unpriced.when")}
        description={t("models.unpriced.whenHelp")}
        data={choices}
        maw="20rem"
        allowDeselect={false}
        disabled={disabled || save.isPending}
        value={model.unpriced ?? "settings"}
        onChange={(value) => {
          if (value === null) return;
          const unpriced = value === "allow" || value === "block" ? value : null;
          save.mutate({ params: { model: model.name }, body: { unpriced } });
        }}
      />
    </Stack>
  );
}

const standing: Readonly<Record<ConsoleModel["calls"], string>> = {
  priced: "",
  blocked: t("models.unpriced.isBlocked"),
  blocked_in_budgets: t("models.unpriced.isBlockedInBudgets"),
  free: t("models.unpriced.isFree"),
  borrowed_price: t("models.unpriced.isBorrowed"),
};
