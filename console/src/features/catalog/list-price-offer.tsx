import { Button, Group, Text } from "@mantine/core";
import type { ConsoleModel } from "@sluice/contract";
import { useAct } from "../../api/use-act.ts";
import { t } from "../../language/areas/catalog.ts";
import { afterCatalogChange } from "./catalog-routes.ts";
import { isUnpriced, listPriceText } from "./price-words.ts";

/** The price list's price of a model, if the model does not use it yet. */
export function ListPriceOffer({ model }: { readonly model: ConsoleModel }) {
  const { list_price: listed } = model;
  if (listed === null || model.price_origin === "price_list") return null;
  return (
    <Group gap="sm" className="list-price">
      <Text size="sm">
        {t("catalog.listPrice.is", { price: listPriceText(listed.price) })}
        {listed.guessed && ` ${t("catalog.listPrice.guessed")}`}
      </Text>
      {model.managed_by === "console" && <UseListPrice model={model} />}
    </Group>
  );
}

interface UseListPriceProps {
  readonly model: Pick<ConsoleModel, "name" | "price">;
  readonly onDone?: () => void;
}

/** One click: the price list's price, now. */
export function UseListPrice({ model, onDone = () => {} }: UseListPriceProps) {
  const use = useAct("models.update", {
    invalidates: [...afterCatalogChange, "attention.list"],
    shownBy: "models.show",
    done: t("catalog.listPrice.used", { name: model.name }),
    onDone,
  });
  return (
    <Button
      variant={isUnpriced(model.price) ? "filled" : "default"}
      size="compact-sm"
      loading={use.isPending}
      onClick={() => use.mutate({ params: { model: model.name }, body: { use_list_price: true } })}
    >
      {t("catalog.listPrice.use")}
    </Button>
  );
}
