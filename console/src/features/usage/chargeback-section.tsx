import { Button, Group, Select, Text, TextInput } from "@mantine/core";
import { type AnswerOf, chargebackCsvPath } from "@sluice/contract";
import { IconDownload } from "@tabler/icons-react";
import { useMemo } from "react";
import { useCall } from "../../api/use-call.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Money } from "../../components/figures.tsx";
import { rowsIn } from "../../components/rows.ts";
import { Section } from "../../components/section.tsx";
import { localZone } from "../../components/use-time-range.ts";
import { t } from "../../language/areas/usage.ts";
import { locale } from "../../language/chosen.ts";
import { useUrlChange, useUrlSearch, useUrlText } from "../../routes/search.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { rowName } from "./row-names.ts";
import { TagSelect, TagValueSelect } from "./tag-select.tsx";

type Report = AnswerOf<"usage.chargeback">;
type Line = Pick<Report["data"][number], "cost_usd" | "total_usd"> & { readonly id: string; readonly name: string };

const ways = ["group", "workspace", "tag"] as const;
type Way = (typeof ways)[number];

const monthPattern = /^\d{4}-(0[1-9]|1[0-2])$/;
const monthsMax = 12;

/** The month of a time as `2026-01`, some months earlier. */
function monthBefore(now: Date, months: number): string {
  const month = new Date(now.getFullYear(), now.getMonth() - months, 1);
  return `${month.getFullYear()}-${String(month.getMonth() + 1).padStart(2, "0")}`;
}

/** Cost of each team by month, with totals that equal the ledger. */
export function ChargebackSection() {
  const { path, all } = useWorkspace();
  const search = useUrlSearch();
  const change = useUrlChange();
  const zone = search["tz"] === "utc" ? "UTC" : localZone;
  const now = new Date();
  const [from, setFrom] = useUrlText("from_month", monthBefore(now, 2));
  const [to, setTo] = useUrlText("to_month", monthBefore(now, 0));
  const [asked, setWay] = useUrlText("team", all ? "workspace" : "group");
  const { tag = "", tag_value: value = "" } = search;
  const offered = ways.filter((each) => all || each !== "workspace");
  const by: Way = offered.find((each) => each === asked) ?? "group";
  const good = monthPattern.test(from) && monthPattern.test(to) && from <= to && monthsBetween(from, to) < monthsMax;
  const only = tag !== "" && value !== "" ? { tag, tag_value: value } : {};
  const query = { by, from, to, time_zone: zone, ...(by === "tag" ? { tag } : only) };
  const ready = good && (by !== "tag" || tag !== "");
  const report = useCall("usage.chargeback", {
    params: { workspace: path },
    query,
    enabled: ready,
    keepBefore: true,
  });
  const months = report.data?.months;
  const columns = useMemo(() => columnsOf(by, months ?? []), [by, months]);
  const file = `${chargebackCsvPath(path)}?${new URLSearchParams(query)}`;
  const rows = rowsIn(report, ({ data, totals }): Line[] => [
    ...data.map((row) => ({ ...row, name: rowName(row, by) })),
    { id: "\u0000", name: t("usage.chargeback.total"), ...totals },
  ]);
  return (
    <Section
      flush
      title={t("usage.chargeback.title")}
      description={t("usage.chargeback.help", { zone })}
      actions={
        <Button
          variant="default"
          component="a"
          href={file}
          download
          leftSection={<IconDownload size={15} />}
          disabled={!ready}
        >
          {t("usage.rows.export")}
        </Button>
      }
    >
      <Group px="md" pb="sm" gap="xs" align="flex-end">
        <Select
          label={t("usage.chargeback.team")}
          data={offered.map((value) => ({ value, label: t(`usage.by.${value}`) }))}
          value={by}
          onChange={(value) => setWay(value ?? "")}
          allowDeselect={false}
          w={150}
        />
        <TagSelect
          label={by === "tag" ? t("usage.tag.choose") : t("usage.tag.only")}
          value={tag}
          onChange={(next) => change({ tag: next, tag_value: "" })}
          clearable
        />
        {by !== "tag" && (
          <TagValueSelect
            label={t("usage.tag.value")}
            tag={tag}
            value={value}
            onChange={(next) => change({ tag_value: next })}
          />
        )}
        <TextInput
          type="month"
          label={t("usage.chargeback.from")}
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        <TextInput
          type="month"
          label={t("usage.chargeback.to")}
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
      </Group>
      {!good && (
        <Text size="sm" c="red" role="alert" px="md" pb="md">
          {t("usage.chargeback.wrong")}
        </Text>
      )}
      {ready && (
        <DataTable
          label={t("usage.chargeback.title")}
          columns={columns}
          rows={rows}
          rowKey={(row) => row.id}
          empty={t("usage.chargeback.none")}
        />
      )}
    </Section>
  );
}

function monthsBetween(from: string, to: string): number {
  const number = (text: string) => Number(text.slice(0, 4)) * 12 + Number(text.slice(5));
  return number(to) - number(from);
}

function columnsOf(by: Way, months: Report["months"]): readonly Column<Line>[] {
  const title = new Intl.DateTimeFormat(locale, { month: "short", year: "numeric", timeZone: "UTC" });
  return [
    { id: "team", header: t(`usage.by.${by}`), cell: ({ id, name }) => (id === "\u0000" ? <b>{name}</b> : name) },
    ...months.map(
      ({ month }, place): Column<Line> => ({
        id: month,
        header: title.format(Date.parse(`${month}-01T00:00:00Z`)),
        cell: (row) => <Money usd={row.cost_usd[place] ?? 0} aligned />,
        align: "right",
      }),
    ),
    {
      id: "total",
      header: t("usage.chargeback.total"),
      cell: (row) => <Money usd={row.total_usd} aligned />,
      align: "right",
    },
  ];
}
