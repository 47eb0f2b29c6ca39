import { Alert, Anchor, CloseButton, Group, Stack, Text } from "@mantine/core";
import type { AnswerOf } from "@sluice/contract";
import { IconAlertTriangle, IconCircleCheck } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { t } from "../../../language/areas/providers.ts";
import { isUnpriced } from "../../catalog/price-words.ts";
import { useModels } from "../../catalog/use-models.ts";

interface ImportResultProps {
  readonly result: AnswerOf<"providers.import">;
  readonly onClose: () => void;
}

/** What was made, what was refused and why, and what still needs a price. */
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
          <CloseButton size="sm" aria-label={t("providers.closeThis")} onClick={onClose} />
        </Group>
      }
      classNames={{ label: "grow" }}
    >
      <Stack gap="xs">
        {created.length > 0 && <Names label={t("providers.new")} names={created} />}
        {extended.length > 0 && <Names label={t("providers.gotADeploymentMore")} names={extended} />}
        {refused.map(({ name, reason }) => (
          <Text key={name} size="sm" className="break">
            {name}: {reason}
          </Text>
        ))}
        {unpriced.length > 0 && (
          <Text size="sm">
            {unpriced.length === 1
              ? t("providers.oneOfThemHasNo")
              : t("providers.ofThemHaveNoPrice", { length: unpriced.length })}{" "}
            <Anchor size="sm" renderRoot={(props) => <Link to="/models" search={{ price: "none" }} {...props} />}>
              {t("providers.setPrices")}
            </Anchor>
          </Text>
        )}
      </Stack>
    </Alert>
  );
}

function titleOf(done: number, refused: number): string {
  if (refused === 0)
    return done === 1 ? t("providers.n1ModelIsServedNow") : t("providers.modelsAreServedNow", { done });
  return done === 0 ? t("providers.nothingWasImported") : t("providers.importedNot", { done, refused });
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
      {names.length > namesShown && ` and ${names.length - namesShown} more`}
    </Text>
  );
}
