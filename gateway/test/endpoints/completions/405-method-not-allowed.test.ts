import { otherMethods } from "../forwarding-suite.ts";
import { completionsEndpoint } from "./endpoint.ts";

otherMethods(completionsEndpoint);
