import { Select, SimpleGrid, Switch, Text, Textarea, TextInput } from "@mantine/core";
import { NumberField } from "../../components/number-field.tsx";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/settings.ts";
import { ColorField, LogoField } from "./brand-fields.tsx";
import { type FieldsProps, fieldProps, switchProps } from "./field-props.tsx";
import { type FormRow, formRows, shownAs } from "./settings-draft.ts";

/** How durably requests are recorded, and for how long. */
export function RetentionFields(props: FieldsProps) {
  return (
    <Section title={t("settings.general.retention")} description={t("settings.general.retentionHelp")}>
      <Fields rows={retentionRows} {...props} />
      <Text fz="xs" c="dimmed" mt="md">
        {t("settings.general.captureNote")}
      </Text>
    </Section>
  );
}

/** Settings for failed requests and for results. */
export function RequestFields(props: FieldsProps) {
  return (
    <Section title={t("settings.general.requests")}>
      <Fields rows={requestRows} {...props} />
    </Section>
  );
}

export function ConsoleFields(props: FieldsProps) {
  return (
    <Section title={t("settings.general.console")}>
      <Fields rows={consoleRows} {...props} />
    </Section>
  );
}

const retentionRows = formRows.filter(({ form }) => form === "retention");
const requestRows = formRows.filter(({ form }) => form === "requests");
const consoleRows = formRows.filter(({ form }) => form === "console");

/** The settings of one part of the form, according to the settings table. */
function Fields({ rows, ...props }: FieldsProps & { readonly rows: readonly FormRow[] }) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg" className="fields">
      {rows.map((row) => (
        <Field key={row.path} row={row} {...props} />
      ))}
    </SimpleGrid>
  );
}

function Field({ row, ...props }: FieldsProps & { readonly row: FormRow }) {
  const { path, kind } = row;
  const { draft, change } = props;
  const label = t(`settings.fields.${path}.label`);
  const description = t(`settings.fields.${path}.help`);
  if (kind.type === "boolean") {
    return (
      <Switch
        {...switchProps(props, path, label)}
        description={description}
        checked={draft[path] === true}
        onChange={(event) => change({ [path]: event.currentTarget.checked })}
      />
    );
  }
  if (kind.type === "choice") {
    return (
      <Select
        {...fieldProps(props, path, label)}
        description={description}
        data={choicesOf(row)}
        value={String(draft[path])}
        onChange={(value) => value !== null && change({ [path]: value })}
        allowDeselect={false}
      />
    );
  }
  if (kind.type === "color") return <ColorField {...props} path={path} label={label} description={description} />;
  if (kind.type === "logo") return <LogoField {...props} path={path} label={label} description={description} />;
  if (kind.type === "text" && !("lines" in kind)) {
    return (
      <TextInput
        {...fieldProps(props, path, label)}
        description={description}
        maxLength={kind.max}
        value={String(draft[path])}
        onChange={(event) => change({ [path]: event.currentTarget.value })}
      />
    );
  }
  if (kind.type === "text") {
    return (
      <Textarea
        {...fieldProps(props, path, label)}
        description={description}
        maxLength={kind.max}
        autosize
        minRows={2}
        maxRows={6}
        value={String(draft[path])}
        onChange={(event) => change({ [path]: event.currentTarget.value })}
      />
    );
  }
  const scale = shownAs(row);
  const value = draft[path];
  return (
    <NumberField
      {...fieldProps(props, path, label)}
      description={description}
      suffix={` ${t(kind.unit === "days" ? "settings.general.days" : "settings.general.seconds")}`}
      min={kind.min / scale}
      max={kind.max / scale}
      allowNegative={false}
      allowDecimal={scale > 1}
      value={typeof value === "number" ? value / scale : null}
      onChange={(shown) => change({ [path]: shown === null ? null : Math.round(shown * scale) })}
    />
  );
}

function choicesOf({ path, kind }: FormRow) {
  if (kind.type !== "choice") return [];
  return kind.of.map((value) => ({ value, label: t(`settings.fields.${path}.${value}` as ChoiceName) }));
}

type ChoiceName = {
  [One in FormRow as One["path"]]: One["kind"] extends { readonly of: readonly (infer Choice extends string)[] }
    ? `settings.fields.${One["path"]}.${Choice}`
    : never;
}[FormRow["path"]];

/** The handling of requests for models without a price. */
export function UnpricedFields(props: FieldsProps) {
  const { draft, change } = props;
  return (
    <Section title={t("settings.unpriced.title")} description={t("settings.unpriced.help")}>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg" className="fields">
        <Select
          {...fieldProps(props, "unpriced", t("settings.unpriced.calls"))}
          description={unpricedHelp[draft.unpriced]}
          data={unpricedPolicies}
          value={draft.unpriced}
          onChange={(value) => {
            const chosen = unpricedPolicies.find((each) => each.value === value);
            if (chosen !== undefined) change({ unpriced: chosen.value });
          }}
          allowDeselect={false}
        />
        {draft.unpriced === "price_as" && (
          <TextInput
            {...fieldProps(props, "priceAs", t("settings.unpriced.model"))}
            description={t("settings.unpriced.modelHelp")}
            maxLength={256}
            value={draft.priceAs}
            onChange={(event) => change({ priceAs: event.currentTarget.value })}
          />
        )}
      </SimpleGrid>
    </Section>
  );
}

const unpricedPolicies = [
  { value: "block_in_budgets", label: t("settings.unpriced.block_in_budgets") },
  { value: "block", label: t("settings.unpriced.block") },
  { value: "allow", label: t("settings.unpriced.allow") },
  { value: "price_as", label: t("settings.unpriced.price_as") },
] as const;

const unpricedHelp = {
  block_in_budgets: t("settings.unpriced.block_in_budgetsHelp"),
  block: t("settings.unpriced.blockHelp"),
  allow: t("settings.unpriced.allowHelp"),
  price_as: t("settings.unpriced.price_asHelp"),
} as const;
