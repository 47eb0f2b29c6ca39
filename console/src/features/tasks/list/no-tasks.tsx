import { Button, Stack } from "@mantine/core";
import { IconMovie } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useCall } from "../../../api/use-call.ts";
import { CodeBlock } from "../../../components/code-block.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { NoMatch, useIsFiltered } from "../../../components/no-match.tsx";
import { snippetsFor } from "../../../components/snippet-texts.ts";
import { t } from "../../../language/areas/tasks.ts";
import { useSession } from "../../../session/session-context.tsx";
import { useWorkspace } from "../../../session/workspace.ts";
import { taskFilters } from "./task-query.ts";

/** Shown for an empty list: no task matches the filters, or there are none yet; then it explains how to create one. */
export function NoTasks() {
  const { answer } = useSession();
  const workspace = useWorkspace();
  const isFiltered = useIsFiltered(taskFilters);
  const models = useCall("models.list");
  if (isFiltered) return <NoMatch icon={<IconMovie />} title={t("tasks.list.noMatch")} filters={taskFilters} />;
  const video = models.data?.data.find((model) => model.type === "video");
  const curl = snippetsFor({
    baseUrl: answer.public_url,
    apiKey: null,
    model: video?.name ?? "your-video-model",
    type: "video",
  })[0]?.parts[0]?.code;
  return (
    <Stack gap={0} align="center">
      <EmptyState
        icon={<IconMovie />}
        title={t("tasks.list.none")}
        action={
          workspace.may("member") && (
            <Button renderRoot={(props) => <Link to="/playground" search={{ type: "video" }} {...props} />}>
              {t("tasks.list.playground")}
            </Button>
          )
        }
      >
        {models.data !== undefined && video === undefined ? t("tasks.list.noModel") : t("tasks.list.noneHelp")}
      </EmptyState>
      {curl !== undefined && (
        <div className="teaching-code">
          <CodeBlock code={curl} label={t("tasks.list.curl")} wrap />
        </div>
      )}
    </Stack>
  );
}
