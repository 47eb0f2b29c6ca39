import { Group, NumberInput, SegmentedControl, Select, Text, TextInput } from "@mantine/core";
import { everyWorkspace } from "@sluice/contract";
import { useCall } from "../../api/use-call.ts";
import { wrongField } from "../../components/form-drawer.tsx";
import { t } from "../../language/areas/alerts.ts";
import { useSession } from "../../session/session-context.tsx";
import { useModels } from "../catalog/use-models.ts";
import { KeySelect } from "../keys/key-select.tsx";
import { PercentChips } from "./percent-chips.tsx";
import { type RuleDraft, type RuleFieldsProps, verdicts } from "./rule-draft.ts";
import { WatchFields } from "./watch-fields.tsx";

/** Thresholds and filters of the chosen type. */
export function ConditionFields(props: RuleFieldsProps) {
  const { draft, onChange, problem } = props;
  switch (draft.kind) {
    case "budget":
      return (
        <>
          <WatchFields {...props} />
          <PercentChips
            value={draft.percents}
            onChange={(percents) => onChange({ percents })}
            error={wrongField(problem, "condition.percent")}
          />
        </>
      );
    case "error_rate":
      return (
        <>
          <Figure {...props} name="errorPercent" label={t("alerts.form.percent")} max={100} suffix="%" />
          <Window {...props} />
          <Filters {...props} />
        </>
      );
    case "latency":
      return (
        <>
          <Figure {...props} name="seconds" label={t("alerts.form.seconds")} max={3_600} />
          <Window {...props} />
          <Filters {...props} />
        </>
      );
    case "provider_down":
      return (
        <>
          <Group grow align="flex-start">
            <Figure {...props} name="minutes" label={t("alerts.form.minutes")} max={60} whole />
            <Figure {...props} name="minRequests" label={t("alerts.form.minAttempts")} max={100_000} whole />
          </Group>
          <ProviderFilter {...props} />
        </>
      );
    case "spend_anomaly":
      return <SpendAnomalyFields {...props} />;
    case "token_expiry":
      return (
        <>
          <TextInput
            label={t("alerts.form.days")}
            description={t("alerts.form.daysHelp")}
            required
            maxLength={64}
            value={draft.days}
            onChange={(event) => onChange({ days: event.currentTarget.value })}
            error={wrongField(problem, "condition.days")}
          />
          <KeyFilter {...props} />
        </>
      );
    case "key_request":
      return null;
    case "delivery_failure":
      return (
        <Figure
          {...props}
          name="failures"
          label={t("alerts.form.failures")}
          help={t("alerts.form.failuresHelp")}
          max={10_000}
          whole
        />
      );
    case "batch_rows_failed":
      return <BatchRowFields {...props} />;
    case "bill_difference":
      return <BillFields {...props} />;
    case "batch_stuck":
      return (
        <Figure
          {...props}
          name="stuckHours"
          label={t("alerts.form.stuckHours")}
          help={t("alerts.form.stuckHoursHelp")}
          max={168}
          whole
        />
      );
    case "guardrail_findings":
      return <GuardrailFindingFields {...props} />;
    case "guardrail_failure":
      return <GuardrailFailureFields {...props} />;
    case "shadow":
      return (
        <Text size="sm" c="dimmed">
          {t("alerts.form.shadowHelp")}
        </Text>
      );
  }
}

function SpendAnomalyFields(props: RuleFieldsProps) {
  const { draft, onChange } = props;
  return (
    <>
      <SegmentedControl
        aria-label={t("alerts.form.span")}
        className="fit"
        data={[
          { value: "hour", label: t("alerts.form.spanHour") },
          { value: "day", label: t("alerts.form.spanDay") },
        ]}
        value={draft.span}
        onChange={(span) => onChange({ span: span === "hour" ? "hour" : "day" })}
      />
      <Figure
        {...props}
        name="factor"
        label={t("alerts.form.factor")}
        help={t("alerts.form.factorHelp")}
        max={100}
        suffix="×"
      />
      <Figure {...props} name="minUsd" label={t("alerts.form.minUsd")} max={1_000_000} prefix="$" />
      <Filters {...props} />
    </>
  );
}

function BillFields(props: RuleFieldsProps) {
  const help = t("alerts.form.billPercentHelp");
  return (
    <>
      <Figure {...props} name="errorPercent" label={t("alerts.form.billPercent")} help={help} max={100} suffix="%" />
      <ProviderFilter {...props} />
    </>
  );
}

function BatchRowFields(props: RuleFieldsProps) {
  return (
    <Group grow align="flex-start">
      <Figure {...props} name="errorPercent" label={t("alerts.form.rowPercent")} max={100} suffix="%" />
      <Figure
        {...props}
        name="minRequests"
        label={t("alerts.form.minRows")}
        help={t("alerts.form.minRowsHelp")}
        max={100_000}
        whole
      />
    </Group>
  );
}

function GuardrailFindingFields(props: RuleFieldsProps) {
  const { draft, onChange } = props;
  return (
    <>
      <SegmentedControl
        aria-label={t("alerts.form.verdict")}
        className="fit"
        data={verdictChoices.map((value) => ({ value, label: t(`alerts.form.verdicts.${value}`) }))}
        value={draft.verdict ?? "any"}
        onChange={(choice) => onChange({ verdict: verdicts.find((each) => each === choice) ?? null })}
      />
      <Group grow align="flex-start">
        <Figure {...props} name="minutes" label={t("alerts.form.minutes")} max={60} whole />
        <Figure
          {...props}
          name="findings"
          label={t("alerts.form.findings")}
          help={t("alerts.form.findingsHelp")}
          max={100_000}
          whole
        />
      </Group>
      <GuardrailFilter {...props} />
    </>
  );
}

function GuardrailFailureFields(props: RuleFieldsProps) {
  return (
    <>
      <Group grow align="flex-start">
        <Figure {...props} name="minutes" label={t("alerts.form.minutes")} max={60} whole />
        <Figure
          {...props}
          name="failures"
          label={t("alerts.form.failedChecks")}
          help={t("alerts.form.failedChecksHelp")}
          max={100_000}
          whole
        />
      </Group>
      <GuardrailFilter {...props} />
    </>
  );
}

interface FigureProps extends RuleFieldsProps {
  readonly name: {
    [Name in keyof RuleDraft]: RuleDraft[Name] extends number | null ? Name : never;
  }[keyof RuleDraft];
  readonly label: string;
  readonly help?: string;
  readonly max: number;
  readonly whole?: boolean;
  readonly suffix?: string;
  readonly prefix?: string;
}

function Figure({ draft, onChange, name, label, help, max, whole = false, suffix = "", prefix = "" }: FigureProps) {
  return (
    <NumberInput
      label={label}
      description={help}
      required
      min={0}
      max={max}
      allowDecimal={!whole}
      allowNegative={false}
      decimalScale={2}
      suffix={suffix}
      prefix={prefix}
      value={draft[name] ?? ""}
      onChange={(value) => onChange({ [name]: typeof value === "number" ? value : null })}
    />
  );
}

function Window(props: RuleFieldsProps) {
  return (
    <Group grow align="flex-start">
      <Figure {...props} name="minutes" label={t("alerts.form.minutes")} max={60} whole />
      <Figure
        {...props}
        name="minRequests"
        label={t("alerts.form.minRequests")}
        help={t("alerts.form.minRequestsHelp")}
        max={100_000}
        whole
      />
    </Group>
  );
}

function Filters(props: RuleFieldsProps) {
  const { draft, onChange } = props;
  const models = [...useModels().keys()];
  return (
    <>
      <Select
        label={t("alerts.form.model")}
        placeholder={t("alerts.form.anyModel")}
        data={draft.model === null || models.includes(draft.model) ? models : [draft.model, ...models]}
        value={draft.model}
        onChange={(model) => onChange({ model })}
        searchable
        clearable
      />
      <ProviderFilter {...props} />
      <GroupFilter {...props} />
      <KeyFilter {...props} />
    </>
  );
}

/** Only administrators know the providers. */
function ProviderFilter({ draft, onChange }: RuleFieldsProps) {
  const { user } = useSession();
  const providers = useCall("providers.list", { enabled: user.administrator });
  if (!user.administrator) return null;
  return (
    <Select
      label={t("alerts.form.provider")}
      placeholder={t("alerts.form.anyProvider")}
      data={(providers.data?.data ?? []).map(({ id }) => id)}
      value={draft.provider}
      onChange={(provider) => onChange({ provider })}
      searchable
      clearable
    />
  );
}

const verdictChoices = ["any", ...verdicts] as const;

/** The guardrails that apply in the workspace, or with a rule of the installation its own. */
function GuardrailFilter({ draft, onChange }: RuleFieldsProps) {
  const listed = useCall("guardrails.list", { params: { workspace: draft.workspace ?? everyWorkspace } });
  const data = (listed.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }));
  const { guardrail } = draft;
  return (
    <Select
      label={t("alerts.form.guardrail")}
      placeholder={t("alerts.form.anyGuardrail")}
      data={guardrail === null || data.some(({ value }) => value === guardrail) ? data : [guardrail]}
      value={guardrail}
      onChange={(id) => onChange({ guardrail: id })}
      searchable
      clearable
    />
  );
}

function GroupFilter({ draft, onChange }: RuleFieldsProps) {
  const { workspace } = draft;
  const groups = useCall("groups.list", { params: { workspace: workspace ?? "-" }, enabled: workspace !== null });
  if (workspace === null) return null;
  return (
    <Select
      label={t("alerts.form.group")}
      placeholder={t("alerts.form.anyGroup")}
      data={(groups.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      value={draft.group}
      onChange={(group) => onChange({ group })}
      clearable
    />
  );
}

function KeyFilter({ draft, onChange }: RuleFieldsProps) {
  if (draft.workspace === null) return null;
  return (
    <KeySelect
      workspace={draft.workspace}
      label={t("alerts.form.key")}
      description={t("alerts.form.anyKey")}
      value={draft.key}
      onChange={(key) => onChange({ key })}
    />
  );
}
