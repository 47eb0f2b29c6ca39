import { Checkbox, NativeSelect, TextInput } from "@mantine/core";
import type { ConsoleModel, UpstreamModel } from "@sluice/contract";
import { memo } from "react";
import { formatCount, formatRelative } from "../../../client/format.ts";
import { t } from "../../../language/areas/providers.ts";
import { modelTypes, priceWords, typeWords } from "../../catalog/price-words.ts";
import { type Choice, type Chosen, effectOf, toggled } from "./import-choice.ts";

interface ImportRowProps {
  readonly provider: string;
  readonly model: UpstreamModel;
  readonly models: ReadonlyMap<string, ConsoleModel>;
  readonly chosen: Chosen | undefined;
  /** Stable between renders, so that typing in one row renders only that row. */
  readonly onChoice: (change: (before: Choice) => Choice) => void;
}

export const typeChoices = modelTypes.map((value) => ({ value, label: typeWords[value] }));

/** One upstream model. Once selected, shows an input for its name and the effect of the import. */
export const ImportRow = memo(function ImportRow({ provider, model, models, chosen, onChoice }: ImportRowProps) {
  const about = aboutOf(model);
  return (
    <li className="import-row" data-chosen={chosen !== undefined || undefined}>
      <Checkbox
        size="xs"
        checked={chosen !== undefined}
        onChange={() => onChoice((before) => toggled(before, model))}
        label={<span className="break">{model.id}</span>}
        description={about === "" ? undefined : about}
        className="import-check"
      />
      {chosen !== undefined && (
        <NameFields
          upstreamModel={model.id}
          chosen={chosen}
          onName={(next) => onChoice((before) => new Map(before).set(model.id, next))}
          effect={effectOf(provider, model.id, chosen, models)}
        />
      )}
    </li>
  );
});

interface NameFieldsProps {
  readonly upstreamModel: string;
  readonly chosen: Chosen;
  readonly onName: (chosen: Chosen) => void;
  readonly effect: ReturnType<typeof effectOf>;
}

function NameFields({ upstreamModel, chosen, onName, effect }: NameFieldsProps) {
  return (
    <div className="import-fields">
      <TextInput
        size="xs"
        aria-label={t("providers.import.nameOf", { upstreamModel })}
        maxLength={256}
        autoComplete="off"
        spellCheck={false}
        value={chosen.name}
        onChange={(event) => onName({ ...chosen, name: event.currentTarget.value })}
        error={effect.tone === "wrong" ? effect.words : undefined}
        description={effect.tone === "wrong" ? undefined : effect.words}
        inputWrapperOrder={["input", "description", "error"]}
        className="grow"
      />
      {/* A native checkbox, because a hundred styled ones take a second to render. */}
      <NativeSelect
        size="xs"
        aria-label={t("providers.import.typeOf", { upstreamModel })}
        w={112}
        data={typeChoices}
        value={chosen.type}
        onChange={({ currentTarget: { value } }) =>
          onName({ ...chosen, type: modelTypes.find((type) => type === value) ?? chosen.type })
        }
      />
    </div>
  );
}

function aboutOf(model: UpstreamModel): string {
  const { served_as, owned_by, created_at, suggested, price_guessed, context_window, deprecated, retires_at } = model;
  const words = priceWords(model.price);
  return [
    retires_at === null ? null : t("providers.import.retires", { date: formatRelative(retires_at, Date.now()) }),
    deprecated && retires_at === null ? t("providers.import.deprecated") : null,
    served_as.length === 0 ? null : t("providers.import.servedAs", { names: served_as.join(", ") }),
    typeWords[suggested.type],
    words === null
      ? t("providers.import.noPrice")
      : [words.amount, words.unit].filter((word) => word !== null).join(" "),
    price_guessed ? t("providers.import.priceGuessed") : null,
    context_window === null ? null : t("providers.import.context", { tokens: formatCount(context_window) }),
    owned_by === null || owned_by === "" ? null : t("providers.import.by", { owner: owned_by }),
    // Vendors report 0 if they do not know the date.
    created_at === null || created_at <= 0
      ? null
      : t("providers.import.from", { date: formatRelative(created_at, Date.now()) }),
  ]
    .filter((part) => part !== null)
    .join(" · ");
}
