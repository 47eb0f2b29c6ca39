import { Alert, Anchor, CloseButton, Group, Stack, Text } from "@mantine/core";
import type { AnswerOf } from "@sluice/contract";
import { IconAlertTriangle, IconCircleCheck } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { t } from "../../../language/areas/providers.ts";
import { providers } from "../../../language/en/providers.ts";
import { remarks } from "../../../language/remark.ts";
import { isModelType, isUnpriced, typeWords } from "../../catalog/price-words.ts";
import { useModels } from "../../catalog/use-models.ts";

interface ImportResultProps {
  readonly result: AnswerOf<"providers.import">;
  readonly onClose: () => void;
}

/** Created and refused models with reasons, and models that still need a price. */
export function ImportResult({ result: { created, extended, refused }, onClose }: ImportResultProps) {
  const models = useModels();
  const unpriced = created.filter((name) => {
    const model = models.get(name);
    return model !== undefined && isUnpriced(model.price);
  });
  const done = created.length + extended.length;
  return (
    <Alert
      role="status"
      color={refused.length > 0 ? "yellow" : "cyan"}
      variant="light"
      icon={refused.length > 0 ? <IconAlertTriangle size={18} /> : <IconCircleCheck size={18} />}
      title={
        <Group justify="space-between" wrap="nowrap">
          <span>{titleOf(done, refused.length)}</span>
          <CloseButton size="sm" aria-label={t("providers.result.close")} onClick={onClose} />
        </Group>
      }
      classNames={{ label: "grow" }}
    >
      <Stack gap="xs">
        {created.length > 0 && <Names label={t("providers.result.created")} names={created} />}
        {extended.length > 0 && <Names label={t("providers.result.extended")} names={extended} />}
        {refused.map(({ name, reason, ...refusal }) => (
          <Text key={name} size="sm" className="break">
            {t("providers.result.refused", { name, reason: reasonWords(typed(refusal), reason) })}
          </Text>
        ))}
        {unpriced.length > 0 && (
          <Text size="sm">
            {t("providers.result.unpriced", { count: unpriced.length })}{" "}
            <Anchor size="sm" renderRoot={(props) => <Link to="/models" search={{ price: "none" }} {...props} />}>
              {t("providers.result.prices")}
            </Anchor>
          </Text>
        )}
      </Stack>
    </Alert>
  );
}

const reasonWords = remarks(t, "providers.result.reason", providers.result.reason);
type Refusal = Pick<ImportResultProps["result"]["refused"][number], "code" | "params">;

/** Adds the translated name of the model type. */
function typed({ code, params }: Refusal): Refusal {
  const { type } = params;
  return typeof type === "string" && isModelType(type)
    ? { code, params: { ...params, type: typeWords[type] } }
    : { code, params };
}

function titleOf(done: number, refused: number): string {
  if (refused === 0) return t("providers.result.done", { count: done });
  return done === 0 ? t("providers.result.nothing") : t("providers.result.partly", { done, refused });
}

const namesShown = 12;

function Names({ label, names }: { readonly label: string; readonly names: readonly string[] }) {
  return (
    <Text size="sm" component="div" className="break">
      {label}:{" "}
      {names.slice(0, namesShown).map((name, place) => (
        <span key={name}>
          {place > 0 && ", "}
          <Anchor
            size="sm"
            renderRoot={(props) => <Link to="/models/$model" params={{ model: name }} search={{}} {...props} />}
          >
            {name}
          </Anchor>
        </span>
      ))}
      {names.length > namesShown && ` ${t("providers.result.andMore", { count: names.length - namesShown })}`}
    </Text>
  );
}
