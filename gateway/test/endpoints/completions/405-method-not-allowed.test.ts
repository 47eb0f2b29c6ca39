import { otherMethods } from "../passed-suite.ts";
import { completionsEndpoint } from "./endpoint.ts";

otherMethods(completionsEndpoint);
