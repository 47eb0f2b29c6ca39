import { Select, SimpleGrid, Stack, Switch, TextInput } from "@mantine/core";
import { type ConsoleSettings, objectPrefixLengthMax } from "@sluice/contract";
import { Facts } from "../../components/facts.tsx";
import { When } from "../../components/figures.tsx";
import { Section } from "../../components/section.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/ledger-export.ts";
import { type FieldsProps, fieldProps, switchProps } from "./field-props.tsx";
import { exportFormats } from "./ledger-export-draft.ts";

interface LedgerExportFieldsProps extends FieldsProps {
  readonly answer: ConsoleSettings;
}

/** The bucket for hourly ledger exports, its access keys, and the progress. */
export function LedgerExportFields({ answer, ...props }: LedgerExportFieldsProps) {
  const { draft, change } = props;
  return (
    <Section title={t("ledgerExport.title")} description={t("ledgerExport.help")}>
      <Stack gap="lg">
        <Switch
          {...switchProps(props, "exportOn", t("ledgerExport.on"))}
          description={t("ledgerExport.onHelp")}
          checked={draft.exportOn}
          onChange={(event) => change({ exportOn: event.currentTarget.checked })}
        />
        {draft.exportOn && (
          <>
            <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg" className="fields">
              <TextInput
                {...fieldProps(props, "exportBucket", t("ledgerExport.bucket"))}
                description={t("ledgerExport.bucketHelp")}
                maxLength={63}
                value={draft.exportBucket}
                onChange={(event) => change({ exportBucket: event.currentTarget.value })}
              />
              <TextInput
                {...fieldProps(props, "exportPrefix", t("ledgerExport.prefix"))}
                description={t("ledgerExport.prefixHelp")}
                maxLength={objectPrefixLengthMax}
                value={draft.exportPrefix}
                onChange={(event) => change({ exportPrefix: event.currentTarget.value })}
              />
              <TextInput
                {...fieldProps(props, "exportRegion", t("ledgerExport.region"))}
                description={t("ledgerExport.regionHelp")}
                maxLength={64}
                value={draft.exportRegion}
                onChange={(event) => change({ exportRegion: event.currentTarget.value })}
              />
              <TextInput
                {...fieldProps(props, "exportEndpoint", t("ledgerExport.endpoint"))}
                description={t("ledgerExport.endpointHelp")}
                maxLength={2_048}
                value={draft.exportEndpoint}
                onChange={(event) => change({ exportEndpoint: event.currentTarget.value })}
              />
              <Select
                {...fieldProps(props, "exportFormat", t("ledgerExport.format"))}
                description={t("ledgerExport.formatHelp")}
                data={exportFormats.map((value) => ({ value, label: t(`ledgerExport.formats.${value}`) }))}
                value={draft.exportFormat}
                onChange={(value) => change({ exportFormat: value ?? "jsonl" })}
                allowDeselect={false}
              />
            </SimpleGrid>
            <Copies answer={answer} />
          </>
        )}
      </Stack>
    </Section>
  );
}

function Copies({ answer }: { readonly answer: ConsoleSettings }) {
  const { keys, copied_until: copiedUntil } = answer.ledger_export;
  const copied = {
    name: t("ledgerExport.copied"),
    value: <When at={copiedUntil} missing={t("ledgerExport.none")} />,
  };
  return (
    <Facts
      facts={[
        {
          name: t("ledgerExport.keys"),
          value:
            keys === null ? (
              <>
                <StatusBadge status="missing" tone="warn" label={t("ledgerExport.keysMissing")} />{" "}
                {t("ledgerExport.keysMissingHelp")}
              </>
            ) : (
              t(`ledgerExport.keysOf.${keys}`)
            ),
          wide: true,
        },
        // Progress is only available for the saved bucket.
        ...(answer.settings.ledger?.export === undefined ? [] : [copied]),
      ]}
    />
  );
}
