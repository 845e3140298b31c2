import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.File;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.MiniDFSNNTopology;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;
import org.apache.hadoop.hdfs.security.token.delegation.DelegationTokenIdentifier;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.apache.hadoop.hdfs.server.namenode.NameNodeAdapter;
import org.apache.hadoop.hdfs.web.WebHdfsConstants;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;

/**
 * A real HDFS on the loopback interface. The first line that it prints is JSON: its ports. Then it takes commands, a line
 * each with tabs between the words, and answers each with a line: {@code ok}, with what was asked for, or {@code error}.
 * It stops when its standard input ends.
 *
 * <p>Arguments: a directory for its files, and {@code ha} for two name nodes instead of one.
 */
public final class MiniDfs {
  private final MiniDFSCluster cluster;

  private MiniDfs(MiniDFSCluster cluster) {
    this.cluster = cluster;
  }

  public static void main(String[] arguments) throws Exception {
    boolean ha = arguments.length > 1 && arguments[1].equals("ha");
    MiniDFSCluster cluster = start(new File(arguments[0]), ha);
    // A signal ends the process without more ado: the directory is removed by the script that started it.
    MiniDfs server = new MiniDfs(cluster);
    print(server.ports());
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      try {
        print("ok\t" + server.run(line.split("\t", -1)));
      } catch (Exception | Error e) {
        print("error\t" + String.valueOf(e).split("\n")[0]);
      }
    }
    Runtime.getRuntime().halt(0);
  }

  private static MiniDFSCluster start(File directory, boolean ha) throws Exception {
    Configuration conf = new HdfsConfiguration();
    conf.set("dfs.namenode.http-address", "127.0.0.1:0");
    conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, directory.getPath());
    // Tokens without Kerberos, permissions as a user of a real cluster meets them, small pages of listings.
    conf.setBoolean("dfs.namenode.delegation.token.always-use", true);
    conf.setBoolean("dfs.permissions.enabled", true);
    conf.setInt("dfs.ls.limit", 1000);
    conf.setInt("dfs.namenode.fs-limits.min-block-size", 1024);
    conf.setInt("dfs.ha.tail-edits.period", 1);
    // A writer asks that often whether its last block has arrived.
    conf.setInt("dfs.client.block.write.locateFollowingBlock.initial.delay.ms", 20);
    conf.set("hadoop.proxyuser." + UserGroupInformation.getCurrentUser().getShortUserName() + ".hosts", "*");
    conf.set("hadoop.proxyuser." + UserGroupInformation.getCurrentUser().getShortUserName() + ".groups", "*");
    MiniDFSCluster.Builder builder = new MiniDFSCluster.Builder(conf).numDataNodes(1);
    if (ha) builder.nnTopology(MiniDFSNNTopology.simpleHATopology(2));
    MiniDFSCluster cluster = builder.build();
    if (ha) cluster.transitionToActive(0);
    cluster.waitActive();
    DistributedFileSystem fs = cluster.getFileSystem(0);
    fs.setPermission(new Path("/"), new FsPermission((short) 0777));
    return cluster;
  }

  private String ports() {
    List<String> nodes = new ArrayList<>();
    for (int index = 0; index < cluster.getNumNameNodes(); index++) {
      NameNode node = cluster.getNameNode(index);
      nodes.add(
          String.format(
              "{\"http\": %d, \"rpc\": %d}", node.getHttpAddress().getPort(), node.getNameNodeAddress().getPort()));
    }
    return "{\"nameNodes\": [" + String.join(", ", nodes) + "]}";
  }

  private String run(String[] words) throws Exception {
    DistributedFileSystem fs = cluster.getFileSystem(active());
    switch (words[0]) {
      case "truncate":
        return truncate(fs, new Path(words[1]), Long.parseLong(words[2]));
      case "chmod":
        fs.setPermission(new Path(words[1]), new FsPermission(words[2]));
        return "";
      case "quota":
        fs.setQuota(new Path(words[1]), Long.parseLong(words[2]), HdfsConstants.QUOTA_DONT_SET);
        return "";
      case "snapshot":
        fs.allowSnapshot(new Path(words[1]));
        return fs.createSnapshot(new Path(words[1]), words[2]).toString();
      case "remove":
        return String.valueOf(fs.delete(new Path(words[1]), true));
      case "safemode":
        if (words[1].equals("enter")) NameNodeAdapter.enterSafeMode(cluster.getNameNode(active()), false);
        else NameNodeAdapter.leaveSafeMode(cluster.getNameNode(active()));
        return "";
      case "active":
        cluster.transitionToStandby(1 - Integer.parseInt(words[1]));
        cluster.transitionToActive(Integer.parseInt(words[1]));
        return "";
      case "token":
        return writeToken(fs, words[1], words[2]);
      case "cancel":
        cancelToken(words[1]);
        return "";
      case "verify":
        return verifyToken(words[1]);
      case "contents":
        return contents(fs, words[1]);
      default:
        throw new IllegalArgumentException(words[0]);
    }
  }

  /** Where the new end is within a block, the data nodes take a while. */
  private static String truncate(DistributedFileSystem fs, Path path, long size) throws Exception {
    if (!fs.truncate(path, size)) while (!fs.isFileClosed(path)) Thread.sleep(50);
    return String.valueOf(fs.getFileStatus(path).getLen());
  }

  private int active() {
    for (int index = 0; index < cluster.getNumNameNodes(); index++) {
      NameNode node = cluster.getNameNode(index);
      if (node != null && node.isActiveState()) return index;
    }
    return 0;
  }

  /**
   * Writes a file as `hdfs fetchdt` and YARN do. Answers with a token as a URL has it: that for WebHDFS or, if the file has only
   * that one, for the RPC of the name node.
   */
  private String writeToken(DistributedFileSystem fs, String file, String format) throws Exception {
    Token<?> token = fs.getDelegationToken("renewer");
    Credentials credentials = new Credentials();
    credentials.addSecretKey(new Text("some key"), "not a token".getBytes(StandardCharsets.UTF_8));
    credentials.addToken(new Text("other"), new Token<>(new byte[200], new byte[20], new Text("OTHER"), new Text("x:1")));
    Token<?> web = new Token<>(token);
    web.setKind(WebHdfsConstants.WEBHDFS_TOKEN_KIND);
    web.setService(new Text("127.0.0.1:" + cluster.getNameNode(active()).getHttpAddress().getPort()));
    Token<?> written = format.equals("hdfs-only") ? token : web;
    credentials.addToken(written.getService(), written);
    credentials.writeTokenStorageFile(
        new Path("file://" + file),
        new Configuration(),
        format.equals("protobuf") ? Credentials.SerializedFormat.PROTOBUF : Credentials.SerializedFormat.WRITABLE);
    return written.encodeToUrlString();
  }

  /**
   * What a name node with Kerberos does with the parameter `delegation` (`JspHelper.getTokenUGI`). One without looks at no
   * token. Answers with the user.
   */
  private String verifyToken(String text) throws Exception {
    DelegationTokenIdentifier identifier = new DelegationTokenIdentifier();
    Token<DelegationTokenIdentifier> token = decode(text);
    identifier.readFields(new DataInputStream(new ByteArrayInputStream(token.getIdentifier())));
    cluster.getNameNode(active()).verifyToken(identifier, token.getPassword());
    return identifier.getUser().getShortUserName();
  }

  private void cancelToken(String text) throws Exception {
    cluster.getNameNodeRpc(active()).cancelDelegationToken(decode(text));
  }

  private static Token<DelegationTokenIdentifier> decode(String text) throws Exception {
    Token<DelegationTokenIdentifier> token = new Token<>();
    token.decodeFromUrlString(text);
    return token;
  }

  /** What a real client reads: bytes as hexadecimal digits. */
  private static String contents(DistributedFileSystem fs, String path) throws Exception {
    try (var stream = fs.open(new Path(path))) {
      return java.util.HexFormat.of().formatHex(stream.readAllBytes());
    }
  }

  private static void print(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
