import { Anchor, Breadcrumbs, Group, Stack, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { Link, type LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { t } from "../language/areas/components.ts";
import { useSession } from "../session/session-context.tsx";
import { useWorkspace } from "../session/workspace.ts";

interface Crumb {
  readonly label: string;
  readonly link: LinkProps;
}

export interface PageFrameProps {
  readonly title: string;
  /** Next to the title: a status, a lock. */
  readonly badges?: ReactNode;
  /** One or two sentences on the purpose of the page. */
  readonly description?: ReactNode;
  /** Buttons, the main one last. */
  readonly actions?: ReactNode;
  /** Breadcrumbs, without the page itself. */
  readonly crumbs?: readonly Crumb[];
  readonly children: ReactNode;
}

/** The header of every page, with its content below. */
export function PageFrame({ title, badges, description, actions, crumbs, children }: PageFrameProps) {
  useDocumentTitle(t("components.page.title", { title, product: useSession().answer.brand.name }));
  return (
    <Stack gap="lg" className="page">
      <header className="page-head">
        <div className="page-words">
          {crumbs !== undefined && crumbs.length > 0 && <Crumbs crumbs={crumbs} />}
          <Group gap="sm">
            <Title order={1} className="page-title">
              {title}
            </Title>
            {badges}
          </Group>
          {description !== undefined && (
            <Text size="sm" c="dimmed" component="div" className="page-description">
              {description}
            </Text>
          )}
        </div>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </header>
      {children}
    </Stack>
  );
}

/** Lists of one workspace's objects: their crumbs begin with the workspace. */
const ofWorkspace: readonly unknown[] = ["/keys", "/requests", "/media", "/batches"];

function Crumbs({ crumbs }: { readonly crumbs: readonly Crumb[] }) {
  const { answer } = useSession();
  const { slug } = useWorkspace();
  const name = answer.workspaces.find((each) => each.slug === slug)?.name ?? slug;
  const home: readonly Crumb[] =
    slug === null || name === null || !ofWorkspace.includes(crumbs[0]?.link.to)
      ? []
      : [{ label: name, link: { to: "/workspaces/$workspace", params: { workspace: slug } } }];
  return (
    <nav aria-label={t("components.page.breadcrumbs")}>
      <Breadcrumbs separator="/" separatorMargin={6} className="page-crumbs">
        {[...home, ...crumbs].map((crumb) => (
          <Anchor key={crumb.label} size="xs" renderRoot={(props) => <Link {...crumb.link} {...props} />}>
            {crumb.label}
          </Anchor>
        ))}
      </Breadcrumbs>
    </nav>
  );
}
