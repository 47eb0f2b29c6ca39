import { Alert, Button, Select } from "@mantine/core";
import type { AnswerOf } from "@sluice/contract";
import { isReadFromVendor } from "@sluice/contract/words";
import { IconReceipt } from "@tabler/icons-react";
import { useAct } from "../../api/use-act.ts";
import { useCall } from "../../api/use-call.ts";
import { formatShare } from "../../client/format.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { Money, When } from "../../components/figures.tsx";
import { PageFrame } from "../../components/page-frame.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Section } from "../../components/section.tsx";
import { Stat, Stats } from "../../components/stat.tsx";
import { Rich, t } from "../../language/areas/bill.ts";
import { useUrlChange, useUrlSearch } from "../../routes/search.ts";
import { useSession } from "../../session/session-context.tsx";
import { ForAdministrators } from "../catalog/for-administrators.tsx";
import "../../styles/bill.css";
import { BillCalendar, lastDays } from "./bill-calendar.tsx";
import { BillDay } from "./bill-day.tsx";
import { UploadBill } from "./upload-bill.tsx";

type BillList = AnswerOf<"reconciliation.list">;

const shownDays = 35;

/** Bills of providers, compared with the ledger: a calendar, and the differences of one day. */
export default function BillPage() {
  const { may } = useSession();
  if (!may("administrator")) return <ForAdministrators title={t("bill.title")} />;
  return <Bills />;
}

function Bills() {
  const days = lastDays(shownDays, Date.now());
  const [from = "", to = ""] = [days[0], days.at(-1)];
  const { data, error, refetch } = useCall("reconciliation.list", { query: { from, to }, keepBefore: true });
  return (
    <PageFrame title={t("bill.title")} description={t("bill.help")}>
      {error !== null && <ProblemAlert problem={error} onRetry={() => void refetch()} />}
      {data !== undefined && <BillsOf list={data} days={days} />}
    </PageFrame>
  );
}

function BillsOf({ list, days }: { readonly list: BillList; readonly days: readonly string[] }) {
  const search = useUrlSearch();
  const change = useUrlChange();
  const source = list.sources.find(({ provider }) => provider === search["provider"]) ?? list.sources[0];
  if (source === undefined) {
    return (
      <div className="table-empty">
        <EmptyState icon={<IconReceipt />} title={t("bill.none.title")}>
          {t("bill.none.help")}
        </EmptyState>
      </div>
    );
  }
  const { provider, kind } = source;
  const isFile = !isReadFromVendor(kind);
  const own = list.data.filter((each) => each.provider === provider);
  const newest = own.findLast(({ state }) => state === "different") ?? own.at(-1);
  const day = search["day"] ?? newest?.day;
  return (
    <>
      {list.sources.length > 1 && (
        <Select
          label={t("bill.provider")}
          data={list.sources.map((each) => each.provider)}
          value={provider}
          allowDeselect={false}
          onChange={(chosen) => change({ provider: chosen ?? "", day: "" })}
          className="bill-provider"
        />
      )}
      <Shares days={own} />
      <Section
        title={provider}
        description={
          <Rich
            text="bill.source.read"
            values={{ when: <When key="when" at={source.read_at} missing={t("bill.source.never")} /> }}
          />
        }
        {...(isFile ? {} : { actions: <ReadNow provider={provider} /> })}
      >
        {source.problem !== null && (
          <Alert color="red" mb="sm">
            {t("bill.source.problem", { problem: source.problem })}
          </Alert>
        )}
        {isFile && <UploadBill key={provider} source={source} />}
        <BillCalendar
          provider={provider}
          days={days}
          rows={own}
          chosen={day ?? null}
          onChoose={(next) => change({ day: next })}
        />
      </Section>
      {day !== undefined && own.some((each) => each.day === day) && (
        <BillDay key={`${provider} ${day}`} provider={provider} day={day} />
      )}
    </>
  );
}

function Shares({ days }: { readonly days: BillList["data"] }) {
  const sum = (amountOf: (day: BillList["data"][number]) => number) =>
    days.reduce((all, day) => all + amountOf(day), 0);
  const billed = sum((day) => Math.max(Math.abs(day.their_usd), Math.abs(day.our_usd)));
  const shareOf = (usd: number) => (billed === 0 ? 0 : Math.min(1, usd / billed));
  const [estimated, foreign, open] = [
    sum((d) => d.estimated_usd),
    sum((d) => d.foreign_usd),
    sum((d) => d.differing_usd),
  ];
  const matched = billed === 0 ? null : 1 - shareOf(open);
  return (
    <Stats label={t("bill.sums.label")}>
      <Stat
        label={t("bill.sums.matched")}
        value={matched === null ? "–" : formatShare(matched)}
        hint={
          <Rich
            text="bill.sums.matchedHint"
            values={{ usd: <Money key="usd" usd={sum((d) => d.their_usd)} short /> }}
          />
        }
      />
      <Stat
        label={t("bill.sums.estimated")}
        value={formatShare(shareOf(estimated))}
        hint={t("bill.sums.estimatedHint")}
      />
      <Stat label={t("bill.sums.foreign")} value={formatShare(shareOf(foreign))} hint={t("bill.sums.foreignHint")} />
      <Stat label={t("bill.sums.open")} value={<Money usd={open} />} hint={t("bill.sums.openHint")} />
    </Stats>
  );
}

/** Reads the bill from the vendor now. */
function ReadNow({ provider }: { readonly provider: string }) {
  const invalidates = ["reconciliation.list", "reconciliation.show"] as const;
  const read = useAct("reconciliation.read", { invalidates, done: t("bill.source.reading") });
  return (
    <Button
      variant="default"
      size="compact-sm"
      loading={read.isPending}
      onClick={() => read.mutate({ params: { provider }, body: {} })}
    >
      {t("bill.source.readNow")}
    </Button>
  );
}
