import { otherMethods } from "../forwarding-suite.ts";
import { decisionsEndpoint } from "./endpoint.ts";

otherMethods(decisionsEndpoint);
