import {
  type BinaryOperationNode,
  type ColumnDefinitionNode,
  DataTypeNode,
  type Dialect,
  OperatorNode,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  PrimitiveValueListNode,
  RawNode,
  ValueListNode,
} from "kysely";
import type { Pool } from "pg";
import { PostgresDriver } from "./postgres-driver.ts";
import type { ServerBreaker } from "./server-breaker.ts";

export function postgresDialect(open: () => Promise<Pool>, statementMs: number, breaker: ServerBreaker): Dialect {
  return {
    createDriver: () => new PostgresDriver(open, statementMs, breaker),
    createAdapter: () => new PostgresAdapter(),
    createQueryCompiler: () => new Compiler(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  };
}

class Compiler extends PostgresQueryCompiler {
  /** Text is compared and ordered by its bytes, as in SQLite, whatever the database's own order is: lists page by it. */
  protected override visitColumnDefinition(node: ColumnDefinitionNode): void {
    const { dataType } = node;
    const isText = DataTypeNode.is(dataType) && dataType.dataType === "text";
    super.visitColumnDefinition(isText ? { ...node, dataType: textByBytes } : node);
  }

  /** SQLite knows lists without any value, PostgreSQL does not: nothing is in them. */
  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const { operator, rightOperand } = node;
    const name = OperatorNode.is(operator) ? operator.operator : "";
    const isList = ValueListNode.is(rightOperand) || PrimitiveValueListNode.is(rightOperand);
    if ((name === "in" || name === "not in") && isList && rightOperand.values.length === 0) {
      this.append(name === "in" ? "false" : "true");
    } else super.visitBinaryOperation(node);
  }
}

const textByBytes = RawNode.createWithSql('text collate "C"');
