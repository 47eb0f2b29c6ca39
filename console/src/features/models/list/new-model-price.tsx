import { Checkbox } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import type { AnswerOf } from "@sluice/contract";
import { useCall } from "../../../api/use-call.ts";
import { PriceForm } from "../../../components/price-form.tsx";
import { t } from "../../../language/areas/models.ts";
import { listPriceText } from "../../catalog/price-words.ts";
import type { NewModel } from "./new-model.ts";

const quietMs = 300;

/** The price list's entry for the upstream model of the form; undefined: there is none with a price. */
export function useListEntry({ provider, upstreamModel, name }: NewModel): AnswerOf<"priceList.entry"> | undefined {
  const [upstream] = useDebouncedValue(upstreamModel.trim() || name.trim(), quietMs);
  const wanted = provider !== null && upstream !== "";
  const entry = useCall("priceList.entry", {
    query: { provider: provider ?? "-", upstream_model: upstream },
    enabled: wanted,
  });
  return !wanted || entry.data?.price === null ? undefined : entry.data;
}

interface NewModelPriceProps {
  readonly draft: NewModel;
  readonly listed: AnswerOf<"priceList.entry"> | undefined;
  readonly onChange: (part: Partial<NewModel>) => void;
}

/** The price list's price if it has one, else the main amounts. */
export function NewModelPrice({ draft, listed, onChange }: NewModelPriceProps) {
  const listPrice = listed?.price ?? null;
  return (
    <>
      {listPrice !== null && (
        <Checkbox
          label={t("models.add.useListPrice", { price: listPriceText(listPrice) })}
          description={listed?.guessed === true ? t("models.priceList.guessed") : undefined}
          checked={draft.usesListPrice}
          onChange={(event) => onChange({ usesListPrice: event.currentTarget.checked })}
        />
      )}
      {(listPrice === null || !draft.usesListPrice) && (
        <PriceForm short type={draft.type} value={draft.price} onChange={(price) => onChange({ price })} />
      )}
    </>
  );
}
