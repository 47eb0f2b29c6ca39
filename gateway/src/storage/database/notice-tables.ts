/** Notices about budgets, and which were sent. */
export interface NoticeTables {
  notices: NoticeTable;
  notices_told: NoticeToldTable;
}

interface NoticeTable {
  id: string;
  workspace_id: string;
  name: string;
  /** JSON: a list of whole numbers. */
  percent: string;
  scope: string | null;
  scope_id: string | null;
  /** Sealed: the address of a chat's webhook opens by itself. */
  sealed_channel: string;
  enabled: number;
  created_at: number;
}

/** `due_at` null: sent, or given up. */
interface NoticeToldTable {
  notice_id: string;
  /** `key key_… day`: which budget. */
  budget: string;
  period_start: number;
  percent: number;
  label: string;
  used_usd: number;
  limit_usd: number;
  at: number;
  tries: number;
  due_at: number | null;
  sent_at: number | null;
  problem: string | null;
}
