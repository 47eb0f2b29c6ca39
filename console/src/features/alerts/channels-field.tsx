import { Checkbox, Stack, Text } from "@mantine/core";
import type { AlertChannel } from "@sluice/contract";
import { useCall } from "../../api/use-call.ts";
import { t } from "../../language/areas/alerts.ts";

interface ChannelsFieldProps {
  readonly value: readonly string[];
  readonly onChange: (channels: readonly string[]) => void;
  /** Selects the channels to offer. */
  readonly offers: (channel: AlertChannel) => boolean;
  readonly help: string;
  /** Shown if there are no channels to offer. */
  readonly none: string;
  readonly error: string | null;
}

/** Channels of one alert rule or scheduled report. */
const channelsMax = 10;

/** Chooses the channels that receive an alert or a report. */
export function ChannelsField({ value, onChange, offers, help, none, error }: ChannelsFieldProps) {
  const channels = useCall("alertChannels.list").data?.data.filter(offers);
  return (
    <>
      <Checkbox.Group
        label={t("alerts.form.channels")}
        description={help}
        value={[...value]}
        onChange={(next) => onChange(next.slice(0, channelsMax))}
        error={error}
      >
        <Stack gap={6} mt={6}>
          {channels?.map(({ id, name }) => (
            <Checkbox key={id} value={id} label={name} />
          ))}
        </Stack>
      </Checkbox.Group>
      {channels?.length === 0 && (
        <Text size="xs" c="dimmed" component="p" m={0}>
          {none}
        </Text>
      )}
    </>
  );
}
