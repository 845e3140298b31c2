package org.apache.flink.streaming.api.graph;

/** In Flink's package, because the uid of a node of a finished graph can only be changed from there. */
public final class Uids {

    private Uids() {}

    public static void set(StreamNode node, String uid) {
        node.setTransformationUID(uid);
    }
}
