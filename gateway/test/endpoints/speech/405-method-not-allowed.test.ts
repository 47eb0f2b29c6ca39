import { otherMethods } from "../forwarding-suite.ts";
import { speechEndpoint } from "./endpoint.ts";

otherMethods(speechEndpoint);
