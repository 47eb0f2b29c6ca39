import { Button, Group, Loader, Paper, Progress, Stack, Table, Text, Title } from "@mantine/core";
import type { UsageReport } from "@sluice/contract";
import { formatCount, formatReset, formatUsd } from "../client/format.ts";
import { ProblemAlert } from "../client/problem-alert.tsx";
import type { Loaded } from "../client/use-loaded.ts";

export function UsagePanel({ usage }: { readonly usage: Loaded<UsageReport> }) {
  const report = usage.value;
  return (
    <Paper withBorder p="md" className="card" component="section" aria-labelledby="usage-title">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4" id="usage-title">
            Usage of this key
          </Title>
          <Button size="compact-xs" variant="subtle" loading={usage.loading} onClick={usage.reload}>
            Refresh
          </Button>
        </Group>
        {usage.problem !== null && <ProblemAlert problem={usage.problem} onRetry={usage.reload} />}
        {usage.loading && report === null && <Loader size="sm" aria-label="Loading usage" />}
        {report !== null && <ModelTable report={report} />}
        {report !== null && report.limits.length > 0 && <Limits limits={report.limits} />}
      </Stack>
    </Paper>
  );
}

function ModelTable({ report }: { readonly report: UsageReport }) {
  if (report.data.length === 0) {
    return <Text size="sm">Nothing yet. Send a message, and it appears here a moment later.</Text>;
  }
  return (
    <div className="sideways">
      <Table verticalSpacing={6} horizontalSpacing="xs" fz="sm" className="numbers">
        <Table.Caption>The last 30 days</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Model</Table.Th>
            <Table.Th>Calls</Table.Th>
            <Table.Th>In</Table.Th>
            <Table.Th>Out</Table.Th>
            <Table.Th>Cost</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {report.data.map((row) => (
            <Table.Tr key={row.model}>
              <Table.Th scope="row" className="break">
                {row.model}
              </Table.Th>
              <Numbers row={row} />
            </Table.Tr>
          ))}
        </Table.Tbody>
        {report.data.length > 1 && (
          <Table.Tfoot>
            <Table.Tr>
              <Table.Th scope="row">All</Table.Th>
              <Numbers row={report.totals} />
            </Table.Tr>
          </Table.Tfoot>
        )}
      </Table>
    </div>
  );
}

function Numbers({ row }: { readonly row: UsageReport["totals"] }) {
  return (
    <>
      <Table.Td>{formatCount(row.requests)}</Table.Td>
      <Table.Td>{formatCount(row.input_tokens)}</Table.Td>
      <Table.Td>{formatCount(row.output_tokens)}</Table.Td>
      <Table.Td>{formatUsd(row.cost_usd)}</Table.Td>
    </>
  );
}

const nearFull = 0.9;

function Limits({ limits }: { readonly limits: UsageReport["limits"] }) {
  return (
    <Stack gap="sm" component="ul" className="plain-list">
      {limits.map((limit) => {
        const share = limit.limit === 0 ? 1 : Math.min(1, limit.used / limit.limit);
        const name = `${limit.kind}${limit.period === null ? "" : ` per ${limit.period}`} of ${limit.scope}`;
        const show = limit.kind === "budget" ? formatUsd : formatCount;
        return (
          <li key={name}>
            <Group justify="space-between" gap="xs">
              <Text size="sm" className="break">
                {name}
              </Text>
              <Text size="sm" className="tabular">
                {show(limit.used)} of {show(limit.limit)}
              </Text>
            </Group>
            <Progress
              value={share * 100}
              size="sm"
              color={share >= nearFull ? "red" : "cyan"}
              aria-label={`${name}: ${Math.round(share * 100)} percent used`}
            />
            {limit.resets_at !== null && (
              <Text size="xs" c="dimmed">
                {formatReset(limit.resets_at, Date.now())}
              </Text>
            )}
          </li>
        );
      })}
    </Stack>
  );
}
