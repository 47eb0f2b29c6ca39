import { Alert, Button, Checkbox, Group, Stack, Table, Text } from "@mantine/core";
import type { ConsolePriceList, PriceConfig } from "@sluice/contract";
import { IconCoin } from "@tabler/icons-react";
import { useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { useCall } from "../../../api/use-call.ts";
import { formatMoment } from "../../../client/format.ts";
import { FormProblem } from "../../../components/form-problem.tsx";
import { Modal } from "../../../components/modal.tsx";
import { t } from "../../../language/areas/models.ts";
import { afterCatalogChange } from "../../catalog/catalog-routes.ts";
import { priceItems, priceWords } from "../../catalog/price-words.ts";

/** Price changes in the price list: announced above the list, reviewed before they are applied. */
export function PriceChanges() {
  const [open, setOpen] = useState(false);
  const { data } = useCall("priceList.show", {});
  if (data === undefined) return null;
  const old = data.age_days !== null && data.age_days > oldDays;
  if (data.changes.length === 0 && !open) return old ? <OldPriceList days={data.age_days ?? 0} /> : null;
  return (
    <>
      {old && <OldPriceList days={data.age_days ?? 0} />}
      <Alert
        color="blue"
        variant="light"
        icon={<IconCoin size={18} />}
        title={t("models.priceList.title", { count: data.changes.length })}
      >
        <Group justify="space-between" gap="xs">
          <span>{t("models.priceList.help")}</span>
          <Button variant="default" onClick={() => setOpen(true)}>
            {t("models.priceList.review")}
          </Button>
        </Group>
      </Alert>
      {open && <Review priceList={data} onClose={() => setOpen(false)} />}
    </>
  );
}

/** The same limit as in the alert rule. */
const oldDays = 60;

function OldPriceList({ days }: { readonly days: number }) {
  return (
    <Alert color="yellow" variant="light" icon={<IconCoin size={18} />} title={t("models.priceList.old", { days })}>
      {t("models.priceList.oldHelp")}
    </Alert>
  );
}

function Review({ priceList, onClose }: { readonly priceList: ConsolePriceList; readonly onClose: () => void }) {
  const { changes, version, source, age_days: age } = priceList;
  const [left, setLeft] = useState<ReadonlySet<string>>(guessedModels(priceList));
  const apply = useAct("priceList.apply", {
    invalidates: afterCatalogChange,
    inline: true,
    done: t("models.priceList.done"),
    onDone: onClose,
  });
  const wanted = changes.filter(({ model }) => !left.has(model)).map(({ model }) => model);
  const toggle = (model: string) => {
    const next = new Set(left);
    if (!next.delete(model)) next.add(model);
    setLeft(next);
  };
  return (
    <Modal opened onClose={onClose} size="xl" title={t("models.priceList.dialog")}>
      <Stack>
        <Text size="sm" c="dimmed">
          {t("models.priceList.dialogHelp", { source })}
          {age === null ? "" : ` ${t("models.priceList.age", { days: age })}`}
        </Text>
        <Table.ScrollContainer minWidth={560} mah="26rem">
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th w="11rem">{t("models.model")}</Table.Th>
                <Table.Th miw="6rem">{t("models.priceList.before")}</Table.Th>
                <Table.Th>{t("models.priceList.after")}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {changes.map((change) => (
                <Table.Tr key={`${change.model} ${change.from}`}>
                  <Table.Td>
                    <Checkbox
                      size="xs"
                      checked={!left.has(change.model)}
                      onChange={() => toggle(change.model)}
                      label={change.model}
                      description={`${change.provider} · ${change.upstream_model}`}
                      error={change.guessed ? t("models.priceList.guess") : undefined}
                    />
                  </Table.Td>
                  <Table.Td>
                    <PriceWords price={change.before} />
                  </Table.Td>
                  <Table.Td>
                    {change.from !== null && (
                      <Text size="xs">{t("models.priceList.from", { date: formatMoment(change.from) })}</Text>
                    )}
                    <PriceWords price={change.after} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
        <FormProblem problem={apply.error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t("models.priceList.later")}
          </Button>
          <Button
            disabled={wanted.length === 0}
            loading={apply.isPending}
            onClick={() => apply.mutate({ body: { version, models: wanted } })}
          >
            {t("models.priceList.take", { count: wanted.length })}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** A guessed price is not selected by default. */
function guessedModels({ changes }: ConsolePriceList): ReadonlySet<string> {
  return new Set(changes.flatMap(({ model, guessed }) => (guessed ? [model] : [])));
}

/** The main prices in one line, and all prices below. */
function PriceWords({ price }: { readonly price: PriceConfig | null }) {
  const words = priceWords(price);
  if (price === null || words === null) return <span className="aside">{t("models.noPrice")}</span>;
  const items = priceItems(price).map(({ label, words: amount }) => `${label} ${amount}`);
  return (
    <>
      <Text size="sm" className="tabular">
        {words.amount}
      </Text>
      <Text size="xs" c="dimmed" className="tabular">
        {items.join(" · ")}
      </Text>
    </>
  );
}
